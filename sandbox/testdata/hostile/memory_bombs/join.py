# expect: exception
x = ','.join(['x' * 10**6] * 10**4)
