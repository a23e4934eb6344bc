# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import socket; got(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', @PORT@)))
except BaseException as e:
    print("blocked", type(e).__name__)
