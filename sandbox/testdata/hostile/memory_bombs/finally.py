# expect: memory time
x = []
try:
    while True: x.append('x' * 10**6 + str(len(x)))
finally:
    print('finally')
