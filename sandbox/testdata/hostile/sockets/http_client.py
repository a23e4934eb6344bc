# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import http.client as h; c = h.HTTPConnection('127.0.0.1', @PORT@); c.request('GET', '/'); got(1)
except BaseException as e:
    print("blocked", type(e).__name__)
