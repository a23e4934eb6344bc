# expect: ok
import sys
def h(*a): sys.exit(0)
sys.excepthook = h
raise ValueError
