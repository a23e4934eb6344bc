# expect: memory
x = 1
while True: x <<= 10**7
