# expect: time
x = 10 ** (10 ** 8)
