# expect: ok
import signal
def h(*a): raise KeyError
signal.signal(signal.SIGINT, h)
try:
    signal.raise_signal(signal.SIGINT)
    for i in range(1000): pass
    print('no signal')
except KeyError:
    print('handled')
