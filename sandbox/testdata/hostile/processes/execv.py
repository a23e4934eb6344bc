# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    os.execv('/bin/sh', ['sh', '-c', 'echo hi']); got(1)
except BaseException as e:
    print("blocked", type(e).__name__)
