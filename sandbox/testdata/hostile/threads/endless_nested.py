# expect: ok
import threading
def f():
    threading.Thread(target=f).start()
f()
