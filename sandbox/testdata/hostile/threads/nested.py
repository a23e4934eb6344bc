# expect: ok
import threading
def f(n):
    if n:
        t = threading.Thread(target=f, args=(n - 1,)); t.start(); t.join()
f(50); print('ok')
