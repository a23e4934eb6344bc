# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import ftplib; got(ftplib.FTP('127.0.0.1'))
except BaseException as e:
    print("blocked", type(e).__name__)
