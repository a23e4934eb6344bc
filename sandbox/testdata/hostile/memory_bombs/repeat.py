# expect: memory time
x = [0] * 10**9
