# expect: ok
import gc
for o in gc.get_objects():
    if type(o) is dict:
        try: o.clear()
        except Exception: pass
print('unlikely')
