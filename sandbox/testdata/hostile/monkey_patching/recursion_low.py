# expect: ok
import sys
try: sys.setrecursionlimit(1)
except RecursionError: print('blocked')
