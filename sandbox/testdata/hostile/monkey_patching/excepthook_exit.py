# expect: ok
import sys, os
sys.excepthook = lambda *a: os._exit(0)
raise ValueError
