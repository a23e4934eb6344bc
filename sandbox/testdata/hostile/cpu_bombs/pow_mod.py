# expect: time
pow(3, 10**100000, 10**100000 + 7)
