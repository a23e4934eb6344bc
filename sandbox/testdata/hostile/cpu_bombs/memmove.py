# expect: time
a = bytearray(10**6)
while True: a[1:] = a[:-1]
