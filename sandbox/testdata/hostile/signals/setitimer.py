# expect: ok
import signal
signal.setitimer(signal.ITIMER_REAL, 0.001)
print('ok')
