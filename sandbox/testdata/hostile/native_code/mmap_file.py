# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import mmap; got(mmap.mmap(os.open('/proc/self/mem', os.O_RDWR), 4096))
except BaseException as e:
    print("blocked", type(e).__name__)
