# expect: time
x = list(range(10**5))
while True: -1 in x
