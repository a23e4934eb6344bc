# expect: ok
try: eval('a' + '.a' * 100000)
except (MemoryError, RecursionError, NameError): print('blocked')
