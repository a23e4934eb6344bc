# expect: exception
class K(str):
    def __hash__(self): return hash('x')
    def __eq__(self, o): raise SystemExit(0)
globals()[K('x')] = 1
raise ValueError('wrong')
