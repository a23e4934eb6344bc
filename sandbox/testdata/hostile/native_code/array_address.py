# expect: ok
import array
a = array.array('b', b'x'); p, n = a.buffer_info(); print(n)
