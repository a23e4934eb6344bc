# expect: memory
x = 'a'.ljust(10**9)
