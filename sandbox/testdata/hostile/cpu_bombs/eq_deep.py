# expect: time
import sys
sys.setrecursionlimit(10**9)
a = []; b = []
for i in range(10**6): a = [a]; b = [b]
a == b
