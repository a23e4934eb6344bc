# expect: ok
import inspect
print(any('expected' in str(s) for s in inspect.stack()))
