# expect: time
import threading
l = threading.Lock(); l.acquire(); l.acquire()
