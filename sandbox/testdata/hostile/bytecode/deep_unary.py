# expect: ok
try: eval('-' * 100000 + '1')
except (MemoryError, RecursionError): print('blocked')
