# expect: time memory
import zlib
d = zlib.compress(bytes(10**7))
x = [zlib.decompress(d) for i in range(100)]
