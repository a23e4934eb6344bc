# expect: time
max(range(10**12))
