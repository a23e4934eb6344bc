# expect: ok
import signal
signal.signal(signal.SIGALRM, lambda *a: print('ESCAPED'))
signal.alarm(1)
for i in range(10**5): pass
print('ok')
