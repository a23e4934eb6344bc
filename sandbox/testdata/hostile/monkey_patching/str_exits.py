# expect: exception
class E(Exception):
    def __str__(self): raise SystemExit(0)
raise E
