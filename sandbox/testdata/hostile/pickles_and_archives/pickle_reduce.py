# expect: ok
import pickle, os
class A:
    def __reduce__(self): return os.system, ('id',)
try: print('ESCAPED' if pickle.loads(pickle.dumps(A())) == 0 else 'blocked')
except (OSError, AttributeError, pickle.PicklingError): print('blocked')
