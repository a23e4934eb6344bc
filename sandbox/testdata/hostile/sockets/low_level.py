# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import _socket; got(_socket.socket(2, 1, 0))
except BaseException as e:
    print("blocked", type(e).__name__)
