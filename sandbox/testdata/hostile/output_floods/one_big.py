# expect: output
print('x' * (10 * 10**6))
