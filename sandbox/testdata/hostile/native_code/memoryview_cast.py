# expect: ok
m = memoryview(bytearray(8)).cast('Q')
try:
    m[1]
except IndexError:
    print('blocked')
