# expect: ok
import os
os.closerange(3, 5000)
print('end')
