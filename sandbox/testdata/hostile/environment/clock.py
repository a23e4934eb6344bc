# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import time; got(time.time() > 1767225600 + 3600)
except BaseException as e:
    print("blocked", type(e).__name__)
