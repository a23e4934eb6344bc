# expect: ok
import sys
sys.modules.clear()
print('ok')
