# expect: ok
x = None
for i in range(10**5): x = [x]
del x; print('ok')
