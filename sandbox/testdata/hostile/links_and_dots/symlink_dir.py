# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    os.symlink('/', '/tmp/l', target_is_directory=True); got(os.listdir('/tmp/l'))
except BaseException as e:
    print("blocked", type(e).__name__)
