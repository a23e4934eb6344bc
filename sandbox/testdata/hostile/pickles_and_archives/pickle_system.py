# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import pickle; got(pickle.loads(b"cos\nsystem\n(S'id'\ntR.") == 0)
except BaseException as e:
    print("blocked", type(e).__name__)
