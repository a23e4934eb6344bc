# expect: time
import atexit
def f():
    while True: pass
atexit.register(f)
