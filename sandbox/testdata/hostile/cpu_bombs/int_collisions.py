# expect: time
m = 2**31 - 1
d = {i * m: 1 for i in range(10**5)}
