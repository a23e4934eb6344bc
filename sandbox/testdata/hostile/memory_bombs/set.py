# expect: memory time
s = set()
i = 0
while True:
    s.add(i); s.add((i, 'x' * 1000 + str(i))); i += 1
