# expect: ok exception memory
for op in range(256):
    f = lambda: 0
    f.__code__ = f.__code__.replace(co_code=bytes([151, 0, op, 0, 83, 0]))
    try: f()
    except BaseException: pass
