# expect: ok
import os
os.chmod('@FILE@', 0)
print('ESCAPED' if os.path.exists('@FILE@') else 'nothing')
