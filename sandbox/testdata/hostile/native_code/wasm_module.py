# expect: ok
open('m.wasm', 'wb').write(b'\0asm\1\0\0\0')
try:
    import m
    print('ESCAPED')
except ImportError as e:
    print('blocked')
