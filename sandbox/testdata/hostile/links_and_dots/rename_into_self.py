# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    os.makedirs('/tmp/a/b'); os.rename('/tmp/a', '/tmp/a/b/c'); got(1)
except BaseException as e:
    print("blocked", type(e).__name__)
