# expect: ok
x = 1 << 100000 << 100000
print(x > 0)
