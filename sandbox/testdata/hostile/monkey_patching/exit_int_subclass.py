# expect: exit
class I(int):
    def __and__(self, o): return 0
    __rand__ = __int__ = __and__
raise SystemExit(I(7))
