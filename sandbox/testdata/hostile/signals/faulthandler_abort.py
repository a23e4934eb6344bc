# expect: exception
import faulthandler
faulthandler._sigabrt()
