# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    os.execvp('python3', ['python3', '-c', '1']); got(1)
except BaseException as e:
    print("blocked", type(e).__name__)
