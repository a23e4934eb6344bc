# expect: exit
import sys, atexit
atexit.register(sys.exit, 0)
sys.exit(5)
