# expect: ok
import sys
sys.stderr.write('x' * 10**6); print('ok')
