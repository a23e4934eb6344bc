# Runs once in a fresh interpreter, before it is frozen. What is imported here
# need not be imported by programs again. The functions at the end are what the
# host calls, in a copy of the frozen interpreter, for every run.
import sys, posix
_JOB = posix.open('/dev/job', posix.O_RDONLY)
_REPORT, _NOTE, _SLEEP = (posix.open('/dev/' + n, posix.O_WRONLY) for n in ('report', 'note', 'sleep'))
import abc, argparse, array, ast, atexit, base64, bisect, builtins, calendar, cmath, codecs, collections, \
    collections.abc, contextlib, copy, csv, dataclasses, datetime, decimal, difflib, enum, fileinput, fractions, \
    functools, gc, hashlib, heapq, importlib.machinery, inspect, io, itertools, json, linecache, locale, logging, \
    marshal, math, numbers, operator, os, os.path, pathlib, pickle, posix, pprint, queue, random, re, secrets, \
    signal, site, statistics, string, struct, tempfile, textwrap, threading, time, timeit, traceback, types, typing, \
    unicodedata, warnings, weakref
import encodings.ascii, encodings.idna, encodings.latin_1, encodings.utf_8, encodings.utf_8_sig
import concurrent.futures
try:
    import zlib, graphlib, subprocess
except ImportError:
    pass

# What is defined from here on has builtins of its own: a program that patches
# or empties the real ones changes nothing here.
__builtins__ = dict(builtins.__dict__)

def _install():
    "Puts in place what a program expects of a Linux host and WASI lacks."
    exec(compile(_SHIMS, '<shims>', 'exec', 0, True), {'__name__': '__shims__', 'LEVELS': 4, 'SLEEP': _SLEEP})
    site.setquit()
    site.setcopyright()
    site.sethelper()
    for name, mode, handler in ('stdin', 'r', 'strict'), ('stdout', 'w', 'strict'):
        getattr(sys, name).reconfigure(encoding='utf-8', errors=handler)
    sys.maxsize = 2**63 - 1
    sys.flags  # -I and friends stay visible: programs don't look
    os.chdir('/tmp')
    sys.path.insert(0, '/tmp')
    sys.dont_write_bytecode = True

def _keeper():
    """
    What a program can patch of the library, as it is now: a function that puts it
    back, all of it or what compiling needs, and the ids of the library's classes.
    """
    function, module, heap, same = type(_keeper), type(sys), 1 << 9, operator.is_
    class_of, set_class = object.__dict__['__class__'].__get__, object.__dict__['__class__'].__set__
    bases_of, set_bases = type.__dict__['__bases__'].__get__, type.__dict__['__bases__'].__set__
    dict_of, dict_of_module = type.__dict__['__dict__'].__get__, module.__dict__['__dict__'].__get__
    set_item, del_item = type.__setattr__, type.__delattr__
    objects, names, all_names = gc.get_objects(), dict(sys.modules), sys.modules
    functions = [f for f in objects if type(f) is function]
    parts = [(d.__get__, d.__set__, [d.__get__(f) for f in functions])
             for d in map(function.__dict__.get, ('__code__', '__defaults__', '__kwdefaults__'))]
    classes = [(c, type(c), bases_of(c), dict(dict_of(c))) for c in objects
               if isinstance(c, type) and c.__flags__ & heap]
    modules = [(m, dict(dict_of_module(m))) for m in names.values()
               if type(m) is module and m not in (sys, sys.modules['__main__'])]
    syntax = [t for t in classes if t[0].__module__ == 'ast'], [m for m in modules if m[0].__name__ in ('_ast', 'types')]

    def unchanged(now, then):
        return len(now) == len(then) and all(map(same, now, then)) and all(map(same, now.values(), then.values()))

    def restore(everything):
        main = all_names.get('__main__')
        all_names.clear()
        all_names.update(names)
        all_names['__main__'] = main
        if everything:
            for get, put, then in parts:
                if not all(map(same, map(get, functions), then)):
                    for f, v in zip(functions, then):
                        put(f, v)
        for m, then in modules if everything else syntax[1]:
            if class_of(m) is not module:
                set_class(m, module)
            now = dict_of_module(m)
            if not unchanged(now, then):
                if m is not builtins: # what a program added there it may need
                    now.clear()
                now.update(then)
        for c, meta, bases, then in classes if everything else syntax[0]:
            if class_of(c) is not meta:
                set_class(c, meta)
            if bases_of(c) is not bases:
                set_bases(c, bases)
            now = dict_of(c)
            if not unchanged(now, then):
                for k in list(now):
                    if k not in then:
                        del_item(c, k)
                for k, v in then.items():
                    if k not in now or now[k] is not v:
                        set_item(c, k, v)

    return restore, frozenset(id(c[0]) for c in classes)

def _watch(add, audit):
    """
    Refuses tracing from now on: a tracer can change what a harness compares. Nothing
    refers to the hook but the interpreter, and what is shut stays shut. False if a
    hook of the program's kept it out.
    """
    shut = []
    def hook(event, args):
        if event == 'troupe.harness':
            shut.append(True)
        elif shut and (event == 'sys.settrace' or event == 'sys.setprofile'):
            raise RuntimeError('tracing is off')
    add(hook)
    audit('troupe.harness')
    return bool(shut)

def _functions():
    read, write, unhook = posix.read, posix.write, sys.__excepthook__
    JOB, REPORT, NOTE = _JOB, _REPORT, _NOTE
    dumps, loads = marshal.dumps, marshal.loads
    pristine = dict(builtins.__dict__)
    settrace, setprofile, plus, int_and = sys.settrace, sys.setprofile, int.__add__, int.__and__
    Module, Loader = types.ModuleType, importlib.machinery.SourceFileLoader
    state, watch, add, audit = {}, _watch, sys.addaudithook, sys.audit
    restore, library = _keeper()

    def job():
        n = int.from_bytes(read(JOB, 4), 'little')
        return read(JOB, n) if n else b''

    def note(e, code=None):
        "Tells the host how the program ended: exit code, missing module, message."
        missing = ''
        if isinstance(e, ModuleNotFoundError):
            missing = str(e.name)
        try:
            text = type(e).__name__ + ': ' + str(e)
        except BaseException:
            text = type(e).__name__
        try:
            write(NOTE, '\0'.join((str(code), missing[:200], text[:2000])).encode('utf-8', 'replace'))
        except BaseException:
            pass

    def show(e, skip):
        "What the interpreter does with an uncaught exception."
        tb = e.__traceback__
        for _ in range(skip):
            if tb is not None:
                tb = tb.tb_next
        e.__traceback__ = tb
        hook = unhook
        try:
            sys.last_type, sys.last_value, sys.last_traceback = type(e), e, tb
            hook = sys.excepthook
        except BaseException:
            pass
        try:
            flush(sys.stdout)
        except BaseException:
            pass
        try:
            hook(type(e), e, tb)
        except SystemExit as x:
            return leave(x)
        except BaseException as x:
            try:
                sys.stderr.write('Error in sys.excepthook:\n')
                unhook(type(x), x, x.__traceback__.tb_next)
                sys.stderr.write('\nOriginal exception was:\n')
                unhook(type(e), e, tb)
            except BaseException:
                pass
        note(e)
        if isinstance(e, MemoryError):
            return 4
        if isinstance(e, KeyboardInterrupt):
            return 5
        return 1

    def leave(e):
        "What SystemExit does to the process."
        try:
            code = e.code
        except BaseException:
            code = e
        if code is None:
            code = 0
        elif isinstance(code, int):
            code = int_and(code, 0xff) if -2**31 <= plus(code, 0) < 2**31 else 0xff
        else:
            try:
                flush(sys.stdout)
            except BaseException:
                pass
            try:
                sys.stderr.write(str(code))
                sys.stderr.write('\n')
            except BaseException:
                pass
            code = 1
        if code == 0:
            return 7
        note(e, code)
        return 2

    def flush(f):
        if f is not None and not getattr(f, 'closed', False):
            f.flush()

    def finish():
        "The end of the process, in CPython's order. True if output was lost."
        lost = False
        try:
            threading._shutdown()
        except BaseException:
            pass
        atexit._run_exitfuncs()
        for f in (sys.stdout, sys.stderr, stdout, stderr):
            try:
                flush(f)
            except BaseException:
                lost = f is stdout
        g = state.pop('globals', None)
        if g is not None:
            main = sys.modules.pop('__main__', None)
            for k in list(g):
                if type(k) is str and k[:1] == '_' and k[:2] != '__':
                    g[k] = None
            for k in list(g):
                if k != '__builtins__':
                    g[k] = None
            del main
            gc.collect()
        for f in (stdout, stderr):
            try:
                flush(f)
            except BaseException:
                pass
        return lost

    stdout, stderr = sys.stdout, sys.stderr

    def run():
        "One program: flags, name and arguments, code. The result is its fate."
        flags = job()
        sys.argv = job().decode().split('\0')
        path = job().decode()
        seed = job()
        if seed:
            random.seed(seed)
        code = loads(job())
        main = Module('__main__')
        g = main.__dict__
        g.update(__builtins__=builtins, __file__=path, __cached__=None,
                 __loader__=Loader('__main__', path), __annotations__={})
        sys.modules['__main__'] = main
        state['globals'] = g
        del main
        fate = 0
        try:
            exec(code, g)
        except SystemExit as e:
            fate = leave(e)
            flags = b''
        except BaseException as e:
            fate = show(e, 1)
            flags = b''
        if flags == b'':
            del code
            if finish() and (fate == 0 or fate == 7):
                fate = 6
        return fate

    def harness():
        "Code of the verifier's after a program that ended normally."
        code, data = loads(job()), job()
        def report(b):
            view = memoryview(b)
            while len(view):
                view = view[write(REPORT, view):]
        ns = {'__name__': '__harness__', '__builtins__': pristine, 'program': state['globals'], 'data': data,
              'report': report, 'restore': restore, 'library': library}
        fate = 0
        try:
            settrace(None)
            setprofile(None)
            if not watch(add, audit):
                raise RuntimeError('audit hooks are not allowed')
            exec(code, ns)
        except SystemExit as e:
            fate = leave(e)
        except BaseException as e:
            fate = show(e, 1)
        del code, ns, report
        if finish() and fate == 0:
            fate = 6
        return fate

    def prepare():
        "Source to code, in an interpreter that has run nothing yet."
        name = job().decode()
        try:
            code = compile(job(), name, 'exec', 0, True)
        except BaseException as e:
            show(e, 1)
            return 3
        write(REPORT, dumps(code))
        flush(sys.stderr)
        return 0

    return prepare, run, harness

_install()
_prepare, _run, _harness = _functions()
gc.collect()
gc.freeze()
os.write(_REPORT, b'%d %d %d %d %d' % (id(_prepare), id(_run), id(_harness), id(0), id(1)))
time.time()
