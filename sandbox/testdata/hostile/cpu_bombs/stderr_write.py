# expect: time memory
import os
b = bytes(10**7)
while True:
    os.write(2, b)
