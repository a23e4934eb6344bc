# expect: time
x = pow(3, 10**7)
