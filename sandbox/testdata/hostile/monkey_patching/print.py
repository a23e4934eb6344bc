# expect: ok
import builtins
builtins.print = lambda *a: None
print('x')
