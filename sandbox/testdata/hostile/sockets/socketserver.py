# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import socketserver as h; got(h.TCPServer(('127.0.0.1', 0), None))
except BaseException as e:
    print("blocked", type(e).__name__)
