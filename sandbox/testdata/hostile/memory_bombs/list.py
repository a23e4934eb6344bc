# expect: memory time
x = []
while True: x.append(bytearray(10**6))
