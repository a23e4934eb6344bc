# expect: memory time
g = iter([])
while True: g = (x for x in [g, bytes(10**5)])
