# expect: memory time
x = 1
while True: x <<= 10**7
