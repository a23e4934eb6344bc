# Calls the function under test with the arguments in `data` and reports what it
# returned, in the format of marshal. The expected value is not here: the host
# has it. What marshal does not write (a subclass, a generator) is taken apart by
# the slow path, which the host hands over as source.
import marshal
slow, name, args = marshal.loads(data)
f, cls = program.get(name), program.get('Solution')
# A function that was imported under that name (heapq.merge, re.search) is not
# the one under test where a Solution has it.
if not callable(f) or getattr(f, '__module__', None) != '__main__' and type(cls) is type and hasattr(cls, name):
    if not hasattr(cls, name):
        raise NameError('the program defines no function ' + name)
    f = getattr(cls(), name)
result = f(*args)
try:
    packed = marshal.dumps(result, 2)
except ValueError:
    exec(slow)
else:
    report(b'm')
    report(packed)
