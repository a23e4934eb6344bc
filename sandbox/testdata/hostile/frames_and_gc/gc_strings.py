# expect: ok
import gc, sys
hits = [d for d in gc.get_objects() if isinstance(d, dict) and any('/home/' in str(v)[:50] for v in list(d.values()) if isinstance(v, str))]
print('ESCAPED' if hits else 'nothing')
