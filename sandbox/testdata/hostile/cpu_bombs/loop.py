# expect: time
while True: pass
