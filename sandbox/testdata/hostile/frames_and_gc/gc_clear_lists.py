# expect: ok
import gc
for o in gc.get_objects():
    if type(o) is list:
        try: o.clear()
        except BaseException: pass
print('ok')
