# expect: ok
import os
fd = os.open('/tmp/x', os.O_CREAT | os.O_RDWR)
try:
    os.ftruncate(fd, 2**40); print('ESCAPED')
except OSError:
    print('blocked')
