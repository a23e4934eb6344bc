# expect: time memory
import bz2
d = bz2.compress(bytes(10**7)) * 50
x = bz2.decompress(d)
