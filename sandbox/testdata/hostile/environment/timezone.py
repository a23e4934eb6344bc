# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import time; got(time.tzname[0] != 'UTC' and time.tzname)
except BaseException as e:
    print("blocked", type(e).__name__)
