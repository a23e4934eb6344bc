# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    os.dup2(1, 5); got(os.write(5, b'') is None)
except BaseException as e:
    print("blocked", type(e).__name__)
