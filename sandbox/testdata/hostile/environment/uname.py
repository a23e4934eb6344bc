# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    got([x for x in os.uname() if 'linux' in x.lower()])
except BaseException as e:
    print("blocked", type(e).__name__)
