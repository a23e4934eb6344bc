# expect: ok
import threading
t = threading.Timer(0.01, print, ('tick',)); t.start(); t.join()
