# expect: exception
import faulthandler
faulthandler._fatal_error(b'x')
