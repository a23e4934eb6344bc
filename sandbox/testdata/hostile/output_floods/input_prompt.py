# expect: output
while True:
    try: input('x' * 1000)
    except EOFError: pass
