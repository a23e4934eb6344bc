# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import _ctypes; got(_ctypes.dlopen('libc.so.6', 2))
except BaseException as e:
    print("blocked", type(e).__name__)
