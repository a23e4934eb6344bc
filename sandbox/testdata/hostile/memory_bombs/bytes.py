# expect: memory time
x = bytes(10**9)
