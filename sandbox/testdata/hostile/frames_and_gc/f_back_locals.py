# expect: exception
import sys
f = sys._getframe().f_back
while f:
    try: f.f_locals['fate'] = 0
    except Exception: pass
    f = f.f_back
raise ValueError
