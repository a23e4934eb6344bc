# expect: ok
import plistlib
try: plistlib.loads(b'bplist00' + b'\xff' * 40)
except Exception: print('blocked')
