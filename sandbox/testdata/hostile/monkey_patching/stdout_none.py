# expect: ok
import sys
sys.stdout = None
print('lost')
