# expect: exception
import builtins
builtins.BaseException = int
builtins.Exception = int
raise ValueError
