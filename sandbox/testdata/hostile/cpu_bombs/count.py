# expect: time
s = 'ab' * 10**5
while True: s.count('ba')
