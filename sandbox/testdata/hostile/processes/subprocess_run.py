# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import subprocess; got(subprocess.run(['/bin/sh', '-c', 'id'], capture_output=True).stdout)
except BaseException as e:
    print("blocked", type(e).__name__)
