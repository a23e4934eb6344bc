# expect: memory time
x = ('a' * 10**6).translate({97: 'b' * 10**4})
