# expect: memory time
x = bytearray(2 * 10**9)
