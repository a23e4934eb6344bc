# expect: ok
import sys
f = sys._getframe().f_back
try: f.clear(); print('ESCAPED')
except RuntimeError: print('blocked')
