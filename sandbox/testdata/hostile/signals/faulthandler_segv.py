# expect: exception
import faulthandler
faulthandler._sigsegv()
