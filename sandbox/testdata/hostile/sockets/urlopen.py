# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import urllib.request as u; got(u.urlopen('http://127.0.0.1:@PORT@/', timeout=1).read())
except BaseException as e:
    print("blocked", type(e).__name__)
