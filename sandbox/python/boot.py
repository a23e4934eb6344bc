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

def _functions():
    read, write, unhook = posix.read, posix.write, sys.__excepthook__
    JOB, REPORT, NOTE = _JOB, _REPORT, _NOTE
    dumps, loads = marshal.dumps, marshal.loads
    pristine = dict(builtins.__dict__)
    settrace, setprofile, plus, int_and = sys.settrace, sys.setprofile, int.__add__, int.__and__
    Module, Loader = types.ModuleType, importlib.machinery.SourceFileLoader
    state = {}

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
              'report': report}
        fate = 0
        try:
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
