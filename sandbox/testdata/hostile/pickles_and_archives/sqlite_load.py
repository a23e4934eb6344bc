# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import sqlite3; c = sqlite3.connect(':memory:'); c.enable_load_extension(True); got(c)
except BaseException as e:
    print("blocked", type(e).__name__)
