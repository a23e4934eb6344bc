# expect: time
import threading
threading.Barrier(2).wait()
