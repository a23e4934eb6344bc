# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import sys; got([a for a in sys.orig_argv if 'troupe' in a and a.startswith('/')])
except BaseException as e:
    print("blocked", type(e).__name__)
