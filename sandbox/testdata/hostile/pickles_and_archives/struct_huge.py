# expect: ok
import struct
try: struct.unpack('2147483647s', b'')
except struct.error: print('blocked')
