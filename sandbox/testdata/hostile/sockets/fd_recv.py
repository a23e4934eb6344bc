# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import socket; s = socket.fromfd(1, 2, 1); got(s.send(b'x'))
except BaseException as e:
    print("blocked", type(e).__name__)
