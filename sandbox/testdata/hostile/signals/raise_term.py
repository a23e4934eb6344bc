# expect: exception
import signal
signal.raise_signal(15)
print('after')
