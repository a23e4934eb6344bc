# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import asyncio; got(asyncio.run(asyncio.create_subprocess_shell('id')))
except BaseException as e:
    print("blocked", type(e).__name__)
