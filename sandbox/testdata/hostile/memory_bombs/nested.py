# expect: memory time
x = ()
while True: x = (x, x, x, bytes(10**5))
