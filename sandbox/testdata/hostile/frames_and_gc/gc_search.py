# expect: ok
import gc
hits = [o for o in gc.get_objects() if isinstance(o, dict) and 'expected_output' in o]
print('ESCAPED' if hits else 'nothing')
