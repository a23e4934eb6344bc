# expect: exception
import os
for fd in range(3, 2000):
    try: os.write(fd, b'{"outcome": "ok"}')
    except OSError: pass
print('end')
