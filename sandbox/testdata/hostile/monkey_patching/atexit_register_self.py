# expect: ok
import atexit
def f(): atexit.register(f)
atexit.register(f)
print('ok')
