# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    got(open('/tmp/\uff0e\uff0e/\uff0e\uff0e' + '@FILE@').read())
except BaseException as e:
    print("blocked", type(e).__name__)
