# expect: ok
import posix, os
posix.read = os.read = lambda *a: b''
print('ok')
