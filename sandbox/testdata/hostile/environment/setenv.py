# expect: ok
import os
os.environ['PATH'] = '/bin'
print(os.environ['PATH'])
