# expect: time memory
x = 7 ** (7 ** 10)
