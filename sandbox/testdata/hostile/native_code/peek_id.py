# expect: ok
import struct
# without ctypes an address is just a number
print(type(id([])).__name__)
