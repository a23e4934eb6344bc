# expect: memory time
x = 'a'
while True: x += x
