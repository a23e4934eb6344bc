# expect: exit
import os
os.close(1)
print('lost')
