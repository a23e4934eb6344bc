# expect: ok
x = []
try:
    while True: x.append(bytearray(10**6))
except MemoryError:
    x = None
print('went on')
