# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import sqlite3; got(sqlite3.connect('@FILE@').execute('pragma schema_version').fetchall())
except BaseException as e:
    print("blocked", type(e).__name__)
