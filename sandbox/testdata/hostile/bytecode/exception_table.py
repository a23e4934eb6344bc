# expect: ok
f = lambda: 1 / 0
f.__code__ = f.__code__.replace(co_exceptiontable=b'\xff' * 50)
try: f()
except BaseException: pass
print('survived')
