# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import pathlib; got(pathlib.Path('@FILE@').read_text())
except BaseException as e:
    print("blocked", type(e).__name__)
