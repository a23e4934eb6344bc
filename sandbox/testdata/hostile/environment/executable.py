# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import sys; got(os.path.exists(sys.executable or '/nothing'))
except BaseException as e:
    print("blocked", type(e).__name__)
