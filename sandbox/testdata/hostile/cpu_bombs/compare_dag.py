# expect: time
a = (); b = ()
for i in range(60): a = (a, a); b = (b, b)
a == b
