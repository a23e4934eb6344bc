# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import xmlrpc.client as x; got(x.ServerProxy('http://127.0.0.1:@PORT@').f())
except BaseException as e:
    print("blocked", type(e).__name__)
