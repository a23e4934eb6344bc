# expect: ok
import marshal
try: marshal.loads(b'[\1\0\0\0' * 100000)
except (ValueError, EOFError) as e: print('blocked')
