# expect: exception
import sys, os
def p(frame, event, arg):
    if event == 'return' and frame.f_code.co_name == 'run': os._exit(0)
sys.setprofile(p)
raise ValueError('wrong')
