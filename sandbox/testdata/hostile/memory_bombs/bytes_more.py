# expect: memory
x = bytearray(2 * 10**9)
