# expect: memory time
import sys
x = [sys.intern(str(i) * 1000) for i in range(10**6)]
