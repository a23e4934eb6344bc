# expect: time
b = b'x' * 10**6
while True: b * 10
