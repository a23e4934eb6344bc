# expect: memory time
x = 'a'.ljust(10**9)
