# expect: exit
class E(SystemExit):
    @property
    def code(self): return 1 / 0
raise E
