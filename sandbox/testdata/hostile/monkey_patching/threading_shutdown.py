# expect: ok
import threading, os
threading._shutdown = lambda: os._exit(0)
raise ValueError('wrong')
