# expect: time memory
import os
f = os.open('/dev/null', os.O_WRONLY)
b = bytes(10**7)
while True:
    os.write(f, b)
