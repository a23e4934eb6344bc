# expect: time
import threading
s = threading.Semaphore(0); s.acquire()
