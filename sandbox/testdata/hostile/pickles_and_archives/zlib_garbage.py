# expect: ok
import zlib
for i in range(256):
    try: zlib.decompress(bytes([120, i]) * 20)
    except zlib.error: pass
print('ok')
