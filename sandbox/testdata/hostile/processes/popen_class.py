# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import subprocess; got(subprocess.Popen('cat /etc/passwd', shell=True, stdout=-1).communicate()[0])
except BaseException as e:
    print("blocked", type(e).__name__)
