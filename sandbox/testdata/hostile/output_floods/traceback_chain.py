# expect: exception
e = None
for i in range(300):
    try: raise ValueError(i) from e
    except ValueError as x: e = x
raise e
