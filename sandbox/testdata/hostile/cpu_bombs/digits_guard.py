# expect: ok
try: str(10**5000)
except ValueError: print('blocked')
