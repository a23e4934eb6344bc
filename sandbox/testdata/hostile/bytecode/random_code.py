# expect: ok exception memory
import random
random.seed(1)
for i in range(100):
    f = lambda a=1: 0
    f.__code__ = f.__code__.replace(co_code=bytes([151, 0]) + bytes(random.randrange(256) for _ in range(40)))
    try: f()
    except BaseException: pass
