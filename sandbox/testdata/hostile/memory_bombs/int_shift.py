# expect: memory time
x = 1 << (8 * 10**9)
