# expect: time memory
import os
for i in range(1000):
    open('/tmp/%d' % i, 'w').close()
while True:
    os.listdir('/tmp')
