# expect: ok
import sys
print('ctypes' in sys.builtin_module_names, '_ctypes' in sys.builtin_module_names)
