# expect: output
import sys
b = bytes(10**6)
while True: sys.stdout.buffer.write(b)
