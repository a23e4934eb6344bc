# expect: output
while True: print('x', flush=True)
