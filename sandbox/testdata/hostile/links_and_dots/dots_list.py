# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    got([n for n in os.listdir('/../..') if n not in ('dev', 'tmp', 'usr')])
except BaseException as e:
    print("blocked", type(e).__name__)
