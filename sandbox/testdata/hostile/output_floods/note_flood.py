# expect: exception
import os
for fd in range(3, 20):
    try:
        for i in range(200): os.write(fd, bytes(10**5))
    except OSError: pass
print('ok')
