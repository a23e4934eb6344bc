# expect: time
import threading
threading.Event().wait()
