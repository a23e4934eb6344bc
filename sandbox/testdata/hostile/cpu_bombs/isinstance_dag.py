# expect: time
t = int
for i in range(60): t = (t, t)
isinstance('x', t)
