# expect: exception
import sys, functools
sys.setrecursionlimit(10**9)
@functools.lru_cache(None)
def f(n): return f(n + 1)
f(0)
