# expect: time
import sys
while True: sys.stderr.write('x' * 1000)
