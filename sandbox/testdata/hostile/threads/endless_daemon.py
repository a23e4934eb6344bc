# expect: time
import threading
def f():
    while True: pass
threading.Thread(target=f, daemon=True).start()
