# expect: ok
import os
open('/tmp/a', 'w').write('x')
try:
    os.link('/tmp/a', '/tmp/b'); print('ESCAPED')
except OSError:
    print('blocked')
