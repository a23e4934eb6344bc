# expect: exception
import os
class A:
    def __del__(self): os._exit(0)
a = A()
raise ValueError('wrong')
