# expect: time
import time
while time.time() < 10**10: pass
