# expect: ok
import sys, atexit, os
atexit.register(os._exit, 0)
raise ValueError('wrong')
