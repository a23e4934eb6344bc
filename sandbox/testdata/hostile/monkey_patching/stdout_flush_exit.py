# expect: exception
import sys
class B:
    def write(self, s): pass
    def flush(self): raise SystemExit(0)
sys.stdout = B()
raise ValueError('wrong')
