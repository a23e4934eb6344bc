# expect: time memory
import os
while True:
    os.urandom(10**7)
