# expect: time
x = list(range(10**5))
while True: x.sort(key=lambda v: -v)
