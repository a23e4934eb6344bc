# expect: time
f = lambda: 0
try:
    f.__code__ = f.__code__.replace(co_stacksize=2**28)
    f(); print('survived')
except (MemoryError, ValueError, OverflowError): print('blocked')
