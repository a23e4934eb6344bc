# expect: ok
import os
out = []
for fd in range(3, 2000):
    try:
        b = os.read(fd, 100)
        if b: out.append((fd, b))
    except OSError: pass
print('ESCAPED' if out else 'nothing')
