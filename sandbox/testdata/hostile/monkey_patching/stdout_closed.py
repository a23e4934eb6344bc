# expect: ok
import sys
print('kept')
sys.stdout.close()
