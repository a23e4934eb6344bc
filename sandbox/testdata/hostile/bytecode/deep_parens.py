# expect: ok
try: eval('(' * 5000 + ')' * 5000)
except (MemoryError, SyntaxError, RecursionError): print('blocked')
