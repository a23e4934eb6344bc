# expect: ok exception memory
f = lambda: 0
f.__code__ = f.__code__.replace(co_code=bytes([151, 0, 100, 200, 83, 0]))
f()
print('survived')
