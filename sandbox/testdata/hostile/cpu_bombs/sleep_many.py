# expect: time
import time
while True: time.sleep(0.001)
