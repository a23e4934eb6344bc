# expect: ok
import faulthandler
faulthandler._read_null()
print('null is memory here')
