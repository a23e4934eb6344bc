# expect: ok
import zipfile
open('/tmp/z', 'wb').write(b'PK\5\6' + bytes(10) + b'\xff' * 8)
try: zipfile.ZipFile('/tmp/z')
except Exception: print('blocked')
