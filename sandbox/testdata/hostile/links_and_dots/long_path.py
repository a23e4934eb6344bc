# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    got(open('/' + 'a/' * 10000 + 'x'))
except BaseException as e:
    print("blocked", type(e).__name__)
