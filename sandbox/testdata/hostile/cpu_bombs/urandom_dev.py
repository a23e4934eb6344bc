# expect: time memory
import os
f = os.open('/dev/urandom', os.O_RDONLY)
while True:
    os.read(f, 10**7)
