# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    d = os.open('/', os.O_RDONLY); got(os.open('@FILE@'.lstrip('/'), os.O_RDONLY, dir_fd=d))
except BaseException as e:
    print("blocked", type(e).__name__)
