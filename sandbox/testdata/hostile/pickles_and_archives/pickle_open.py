# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import pickle; got(pickle.loads(b"cbuiltins\nopen\n(S'@FILE@'\ntR."))
except BaseException as e:
    print("blocked", type(e).__name__)
