# expect: ok
import threading
print(threading.Event().wait(0.01))
