# expect: exception
import signal
signal.raise_signal(11)
print('after')
