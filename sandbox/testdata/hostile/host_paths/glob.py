# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import glob; got([p for p in glob.glob('/**', recursive=True) if not p.startswith(('/usr/local/lib', '/tmp', '/dev')) and p not in ('/', '/usr', '/usr/local')])
except BaseException as e:
    print("blocked", type(e).__name__)
