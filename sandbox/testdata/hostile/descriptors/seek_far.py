# expect: ok
import os
fd = os.open('/tmp/x', os.O_CREAT | os.O_RDWR)
try:
    os.lseek(fd, 2**62, 0); os.write(fd, b'x'); print('ESCAPED')
except OSError:
    print('blocked')
