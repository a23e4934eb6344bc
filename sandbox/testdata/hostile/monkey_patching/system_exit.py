# expect: exception
import builtins
builtins.SystemExit = ValueError
raise ValueError('x')
