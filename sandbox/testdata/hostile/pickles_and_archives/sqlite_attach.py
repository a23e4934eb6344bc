# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import sqlite3; c = sqlite3.connect(':memory:'); c.execute("attach '@FILE@' as x"); got(c.execute('select * from x.sqlite_master').fetchall() or True)
except BaseException as e:
    print("blocked", type(e).__name__)
