# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import signal; got(signal.set_wakeup_fd(1) != -1)
except BaseException as e:
    print("blocked", type(e).__name__)
