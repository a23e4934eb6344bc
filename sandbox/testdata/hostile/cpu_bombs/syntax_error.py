# expect: syntax
def f(:
