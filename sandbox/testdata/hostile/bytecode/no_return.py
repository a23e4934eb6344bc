# expect: ok exception memory
f = lambda: 0
f.__code__ = f.__code__.replace(co_code=bytes([151, 0, 9, 0, 9, 0]))
f()
print('survived')
