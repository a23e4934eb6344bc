# expect: time
class K:
    def __hash__(self): return 1
    def __eq__(self, o): return self is o
d = {}
while True: d[K()] = 1
