# expect: ok
import os
os.close(0)
try: input()
except OSError as e: print('blocked')
