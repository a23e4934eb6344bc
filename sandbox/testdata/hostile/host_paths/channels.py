# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    got([p for p in ('/dev/job', '/dev/report', '/dev/note', '/dev/sleep') if os.path.exists(p)])
except BaseException as e:
    print("blocked", type(e).__name__)
