# expect: time memory
import gzip, io
d = gzip.compress(bytes(10**7)) * 50
x = gzip.decompress(d)
