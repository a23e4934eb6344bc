# expect: exception
from functools import reduce
f = lambda n: max(map(f, (n + 1,)))
import sys
sys.setrecursionlimit(10**9)
f(0)
