# expect: memory
x = 1 << (8 * 10**9)
