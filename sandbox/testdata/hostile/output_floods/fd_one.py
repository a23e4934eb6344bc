# expect: output
f = open(1, 'wb', closefd=False)
while True: f.write(b'x' * 1000)
