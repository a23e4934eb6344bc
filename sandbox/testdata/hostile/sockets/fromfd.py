# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import socket; s = socket.socket(fileno=0); got(s.recv(4))
except BaseException as e:
    print("blocked", type(e).__name__)
