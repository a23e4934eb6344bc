# expect: output
f = open('/dev/stdout', 'w')
while True: f.write('x' * 1000)
