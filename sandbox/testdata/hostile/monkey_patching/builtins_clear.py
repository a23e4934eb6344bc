# expect: exception
import builtins
builtins.__dict__.clear()
1 / 0
