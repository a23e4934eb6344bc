# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import asyncio; got(asyncio.run(asyncio.open_connection('127.0.0.1', @PORT@)))
except BaseException as e:
    print("blocked", type(e).__name__)
