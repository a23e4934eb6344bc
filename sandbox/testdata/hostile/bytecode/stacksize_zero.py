# expect: ok
def f(): return [1, [2, [3, [4, (5, 6, 7, 8)]]]]
f.__code__ = f.__code__.replace(co_stacksize=0)
f(); print('survived')
