# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import fcntl, termios; got(fcntl.ioctl(0, termios.TIOCSTI, b'x'))
except BaseException as e:
    print("blocked", type(e).__name__)
