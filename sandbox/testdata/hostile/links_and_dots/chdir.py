# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    os.chdir('/'); os.chdir('../' * 40); got(open('@FILE@'.lstrip('/')).read())
except BaseException as e:
    print("blocked", type(e).__name__)
