# expect: ok
class A:
    def __del__(self):
        global a; a = self
a = A(); del a; print(type(a).__name__)
