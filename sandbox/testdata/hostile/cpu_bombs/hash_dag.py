# expect: time
a = ()
for i in range(60): a = (a, a)
hash(a)
