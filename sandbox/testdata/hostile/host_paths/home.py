# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    got(os.listdir(os.path.expanduser('~/..')) and os.path.exists('/home'))
except BaseException as e:
    print("blocked", type(e).__name__)
