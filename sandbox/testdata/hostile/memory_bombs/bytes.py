# expect: memory
x = bytes(10**9)
