# expect: time
def f(n): return f(n - 1) + f(n - 2) if n > 1 else n
f(60)
