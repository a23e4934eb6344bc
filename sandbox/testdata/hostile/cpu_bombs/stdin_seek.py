# expect: time memory
import os
while True:
    os.lseek(0, 0, 0)
    os.read(0, 10**6)
