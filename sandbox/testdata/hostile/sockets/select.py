# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import select; got([f for f in select.select([0], [1], [], 0) if 99 in f])
except BaseException as e:
    print("blocked", type(e).__name__)
