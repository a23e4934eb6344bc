# expect: exception
import gc, types
for o in gc.get_objects():
    if isinstance(o, types.FunctionType) and o.__name__ in ('run', 'harness', 'prepare', 'note', 'finish'):
        try: o.__code__ = (lambda *a: 0).__code__
        except ValueError: pass
raise ValueError('still wrong')
