# expect: ok
import time
t = time.time()
while time.time() < t + 0.01: pass
print('time passes')
