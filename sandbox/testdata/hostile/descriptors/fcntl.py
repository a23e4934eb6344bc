# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import fcntl; got(fcntl.fcntl(0, fcntl.F_DUPFD, 10))
except BaseException as e:
    print("blocked", type(e).__name__)
