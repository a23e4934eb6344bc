# expect: ok
import sys
sys.modules['__main__'] = None
print('ok')
