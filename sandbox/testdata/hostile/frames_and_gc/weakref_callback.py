# expect: ok
import weakref
class A: pass
a = A(); r = weakref.ref(a, lambda r: 1 / 0); del a; print('ok')
