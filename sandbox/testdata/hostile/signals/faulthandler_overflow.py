# expect: exception
import faulthandler
faulthandler._stack_overflow()
