# expect: output
import sys
while True:
    print('x' * 100); print('y' * 100, file=sys.stderr)
