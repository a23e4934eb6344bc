# expect: exception
import signal
try:
    signal.raise_signal(9)
except BaseException as e:
    print('blocked')
