# expect: exception
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    os.rename('/usr', '/tmp/usr'); got(1)
except BaseException as e:
    print("blocked", type(e).__name__)
