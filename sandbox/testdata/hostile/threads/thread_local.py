# expect: ok
import threading
l = threading.local(); l.x = 1; print(l.x)
