# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import mmap; m = mmap.mmap(-1, 4096, prot=7); got(m)
except BaseException as e:
    print("blocked", type(e).__name__)
