# expect: ok
from importlib.machinery import ExtensionFileLoader
open('m.so', 'wb').write(b'\x7fELF' + bytes(100))
try:
    import importlib.util as u
    s = u.spec_from_loader('m', ExtensionFileLoader('m', '/tmp/m.so'))
    u.module_from_spec(s)
    print('ESCAPED')
except BaseException as e:
    print('blocked', type(e).__name__)
