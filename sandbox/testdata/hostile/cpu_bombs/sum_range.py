# expect: time
print(sum(range(10**15)))
