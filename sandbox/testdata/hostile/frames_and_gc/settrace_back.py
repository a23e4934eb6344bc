# expect: exception
import sys
f = sys._getframe().f_back
def t(f, e, a):
    return t
f.f_trace = t
sys.settrace(t)
raise ValueError('wrong')
