# expect: ok
import os, signal
try:
    os.kill(os.getpid(), 9)
    print('no signal came')
except (OSError, AttributeError):
    print('blocked')
