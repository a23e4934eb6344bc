# expect: exception
import builtins
builtins.__import__ = None
raise ValueError
