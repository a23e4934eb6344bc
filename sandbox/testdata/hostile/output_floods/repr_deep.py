# expect: ok
x = []
for i in range(900): x = [x]
try: print(len(repr(x)))
except RecursionError: print('blocked')
