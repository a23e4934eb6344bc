# expect: memory
x = [0] * 10**9
