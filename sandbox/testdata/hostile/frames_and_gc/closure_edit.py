# expect: exception
import gc, types
for o in gc.get_objects():
    if isinstance(o, types.CellType):
        try:
            if callable(o.cell_contents) and getattr(o.cell_contents, '__name__', '') == 'write': o.cell_contents = lambda *a: 0
        except ValueError: pass
raise ValueError('wrong')
