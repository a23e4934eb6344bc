# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import ssl; got(ssl.create_default_context())
except BaseException as e:
    print("blocked", type(e).__name__)
