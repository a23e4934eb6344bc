# expect: exception
class E(Exception):
    def __str__(self): raise KeyError
raise E
