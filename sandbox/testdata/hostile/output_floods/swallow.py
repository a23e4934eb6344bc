# expect: output
while True:
    try: print('x' * 10000, flush=True)
    except BaseException: pass
