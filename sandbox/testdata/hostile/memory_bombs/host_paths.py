# expect: time memory
import os
while True:
    os.path.exists('/tmp/' + 'a/' * 500 + 'x')
