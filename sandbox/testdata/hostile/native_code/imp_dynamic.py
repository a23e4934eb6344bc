# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import imp; got(imp.load_dynamic('m', '/lib/x86_64-linux-gnu/libc.so.6'))
except BaseException as e:
    print("blocked", type(e).__name__)
