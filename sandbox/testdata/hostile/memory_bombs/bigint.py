# expect: time
x = 7 ** (7 ** 10)
