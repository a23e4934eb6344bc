# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import platform; got(platform.node() not in ('', '(none)', 'wasm', 'localhost') and platform.node())
except BaseException as e:
    print("blocked", type(e).__name__)
