# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import cffi; got(cffi.FFI().dlopen(None))
except BaseException as e:
    print("blocked", type(e).__name__)
