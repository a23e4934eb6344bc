# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import socket; s = socket.create_connection(('127.0.0.1', @PORT@), 1); got(s)
except BaseException as e:
    print("blocked", type(e).__name__)
