# expect: ok
import os
n = 0
try:
    while True:
        os.open('/dev/null', os.O_RDONLY); n += 1
except OSError:
    print('blocked', n < 1000)
