# expect: time memory
import sys
sys.setrecursionlimit(10**9)
def f(x): return f(x + [x])
f([])
