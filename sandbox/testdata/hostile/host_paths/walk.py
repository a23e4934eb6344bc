# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    got([d for d, _, _ in os.walk('/') if d.split('/')[1] not in ('', 'usr', 'tmp', 'dev')])
except BaseException as e:
    print("blocked", type(e).__name__)
