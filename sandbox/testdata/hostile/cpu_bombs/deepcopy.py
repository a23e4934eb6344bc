# expect: time
import copy
x = []
for i in range(100): x = [x, x, x]
copy.deepcopy([x, [list(x) for i in range(10**6)]])
