# expect: time
s = 'a' * 10**5
while True: s.find('a' * 1000 + 'b')
