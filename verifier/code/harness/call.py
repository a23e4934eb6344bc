# Calls the function under test with the arguments in `data` and reports what it
# returned, in the format of marshal. The expected value is not here: the host
# has it. What marshal does not write (a subclass, a generator) is taken apart by
# the slow path, which the host hands over as source.
import marshal
slow, name, args = marshal.loads(data)
f = program.get(name)
if not callable(f):
    f = program.get('Solution')
    if not hasattr(f, name):
        raise NameError('the program defines no function ' + name)
    f = getattr(f(), name)
result = f(*args)
try:
    packed = marshal.dumps(result, 2)
except ValueError:
    exec(slow)
else:
    report(b'm')
    report(packed)
