# expect: memory
x = 'a'
while True: x += x
