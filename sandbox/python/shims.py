# Shims for what contest programs use and a WASI guest lacks. There is one
# thread and one process: what would run beside the program runs at once, in
# place.
import sys, threading, time, signal, types, os, functools
import concurrent.futures, concurrent.futures._base

# Threads: start() runs the target and returns when it has ended.
def _start(self):
    if not self._initialized:
        raise RuntimeError("thread.__init__() not called")
    if self._started.is_set():
        raise RuntimeError("threads can only be started once")
    ident = threading.get_ident()
    before = threading._active.get(ident)
    self._ident = ident
    self._started.set()
    threading._active[ident] = self
    try:
        self.run()
    except SystemExit:
        pass
    except BaseException:
        self._invoke_excepthook(self)
    finally:
        threading._active[ident] = before
        self._is_stopped = True
        self._tstate_lock = None
threading.Thread.start = _start

_stack = [0]
def stack_size(size=0, /):
    "stack_size([size]): the stack of a guest has one size; any is accepted."
    if size < 0 or 0 < size < 32768:
        raise ValueError("size not valid: %d bytes" % size)
    old, _stack[0] = _stack[0], size
    return old
threading.stack_size = stack_size

def _start_new_thread(function, args, kwargs={}, /):
    try:
        function(*args, **kwargs)
    except SystemExit:
        pass
    except BaseException:
        sys.excepthook(*sys.exc_info())
    return threading.get_ident()
import _thread
_thread.start_new_thread = _thread.start_new = _start_new_thread
_thread.stack_size = stack_size

class ThreadPoolExecutor(concurrent.futures._base.Executor):
    def __init__(self, max_workers=None, thread_name_prefix='', initializer=None, initargs=(), **kw):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._shutdown = False
        if initializer is not None:
            initializer(*initargs)
    def submit(self, fn, /, *args, **kwargs):
        if self._shutdown:
            raise RuntimeError('cannot schedule new futures after shutdown')
        f = concurrent.futures._base.Future()
        f.set_running_or_notify_cancel()
        try:
            result = fn(*args, **kwargs)
        except BaseException as e:
            f.set_exception(e)
        else:
            f.set_result(result)
        return f
    def shutdown(self, wait=True, *, cancel_futures=False):
        self._shutdown = True
class ProcessPoolExecutor(ThreadPoolExecutor):
    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), **kw):
        super().__init__(max_workers, '', initializer, initargs)
concurrent.futures.ThreadPoolExecutor = ThreadPoolExecutor
concurrent.futures.ProcessPoolExecutor = ProcessPoolExecutor

def _module(name, **names):
    m = types.ModuleType(name)
    m.__dict__.update(names)
    sys.modules[name] = m
    return m
concurrent.futures.thread = _module('concurrent.futures.thread', ThreadPoolExecutor=ThreadPoolExecutor)
concurrent.futures.process = _module('concurrent.futures.process', ProcessPoolExecutor=ProcessPoolExecutor)

# Sleeping: the host lets virtual time pass, which the time limit counts.
def sleep(seconds, /):
    "sleep(seconds): delay execution for a given number of (virtual) seconds."
    if not hasattr(type(seconds), '__float__') and not hasattr(type(seconds), '__index__'):
        raise TypeError("'%s' object cannot be interpreted as an integer" % type(seconds).__name__)
    ns = int(seconds * 1000000000)
    if ns < 0:
        raise ValueError("sleep length must be non-negative")
    _write(SLEEP, b'%d' % ns)
import posix
_write = posix.write
time.sleep = sleep

# Who waits for another thread waits in vain: none will come. With a time-out
# the time passes, without one all of it.
def _wait(self, timeout=None):
    if not self._is_owned():
        raise RuntimeError("cannot wait on un-acquired lock")
    sleep(10**9 if timeout is None else max(timeout, 0))
    return False
threading.Condition.wait = _wait

# asyncio: the loop has nothing to wait for but time.
class _Later:
    def find_spec(self, name, path=None, target=None):
        if name != 'asyncio.selector_events':
            return None
        sys.meta_path.remove(self)
        import importlib.util
        spec = importlib.util.find_spec(name)
        if spec is not None:
            spec.loader = _Patched(spec.loader)
        return spec
class _Patched:
    def __init__(self, loader):
        self._loader = loader
    def __getattr__(self, name):
        return getattr(self._loader, name)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        self._loader.exec_module(module)
        class Selector:
            def select(self, timeout=None):
                if timeout is None:
                    raise RuntimeError('asyncio waits for what can not happen')
                if timeout > 0:
                    time.sleep(timeout)
                return []
            def get_map(self):
                return {}
            def close(self):
                pass
        loop, init = module.BaseSelectorEventLoop, module.BaseSelectorEventLoop.__init__
        loop.__init__ = lambda self, selector=None: init(self, selector or Selector())
        loop._make_self_pipe = loop._close_self_pipe = loop._write_to_self = lambda self: None
sys.meta_path.insert(0, _Later())

# Recursion: the frames below the program don't count.
_set, _get = sys.setrecursionlimit, sys.getrecursionlimit
def setrecursionlimit(limit, /):
    "Set the maximum depth of the Python interpreter stack to n."
    if not isinstance(limit, int):
        raise TypeError("'%s' object cannot be interpreted as an integer" % type(limit).__name__)
    if limit < 1:
        raise ValueError("recursion limit must be greater or equal than 1")
    _set(min(limit, 2**31 - 1 - LEVELS) + LEVELS)
def getrecursionlimit():
    "Return the current value of the recursion limit."
    return _get() - LEVELS
sys.setrecursionlimit, sys.getrecursionlimit = setrecursionlimit, getrecursionlimit
sys.setrecursionlimit(1000)

if not hasattr(sys, 'set_int_max_str_digits'):
    sys.set_int_max_str_digits = lambda maxdigits: None
    sys.get_int_max_str_digits = lambda: 4300

# Signals: none ever comes, so handlers are accepted and timers never fire.
_handlers, _signal, _getsignal = {}, signal.signal, signal.getsignal
def _set_signal(signalnum, handler):
    try:
        return _signal(signalnum, handler)
    except (ValueError, OSError):
        if not 1 <= int(signalnum) < 65:
            raise
        old = _handlers.get(int(signalnum), signal.SIG_DFL)
        _handlers[int(signalnum)] = handler
        return old
signal.signal = _set_signal
for _name, _number in dict(SIGHUP=1, SIGINT=2, SIGQUIT=3, SIGABRT=6, SIGKILL=9, SIGUSR1=10, SIGSEGV=11, SIGUSR2=12,
                           SIGPIPE=13, SIGALRM=14, SIGTERM=15, SIGCHLD=17, SIGVTALRM=26, SIGPROF=27,
                           ITIMER_REAL=0, ITIMER_VIRTUAL=1, ITIMER_PROF=2).items():
    if not hasattr(signal, _name):
        setattr(signal, _name, _number)
if not hasattr(signal, 'alarm'):
    signal.alarm = lambda seconds, /: 0
    signal.setitimer = lambda which, seconds, interval=0.0, /: (0.0, 0.0)
    signal.getitimer = lambda which, /: (0.0, 0.0)
    signal.pause = lambda: time.sleep(3600)
    signal.siginterrupt = lambda signalnum, flag: None

# resource: limits are accepted and not applied; the sandbox has its own.
if 'resource' not in sys.modules:
    try:
        import resource
    except ImportError:
        _usage = types.SimpleNamespace
        def getrusage(who, /):
            return _usage(ru_utime=time.process_time(), ru_stime=0.0, ru_maxrss=10240, ru_ixrss=0, ru_idrss=0,
                          ru_isrss=0, ru_minflt=0, ru_majflt=0, ru_nswap=0, ru_inblock=0, ru_oublock=0,
                          ru_msgsnd=0, ru_msgrcv=0, ru_nsignals=0, ru_nvcsw=0, ru_nivcsw=0)
        _limits = {}
        def setrlimit(which, limits, /):
            _limits[which] = tuple(limits)
        _module('resource', getrusage=getrusage, setrlimit=setrlimit, error=OSError, getpagesize=lambda: 4096,
                getrlimit=lambda which, /: _limits.get(which, (-1, -1)), RLIM_INFINITY=-1, RLIMIT_CPU=0,
                RLIMIT_FSIZE=1, RLIMIT_DATA=2, RLIMIT_STACK=3, RLIMIT_CORE=4, RLIMIT_RSS=5, RLIMIT_NPROC=6,
                RLIMIT_NOFILE=7, RLIMIT_MEMLOCK=8, RLIMIT_AS=9, RUSAGE_SELF=0, RUSAGE_CHILDREN=-1)

# multiprocessing: one process; pools and processes work in place.
def _multiprocessing():
    import queue
    class Process(threading.Thread):
        exitcode, pid = None, 1
        def __init__(self, group=None, target=None, name=None, args=(), kwargs={}, *, daemon=None):
            super().__init__(None, target, name, args, kwargs)
        def start(self):
            super().start()
            self.exitcode = 0
        def terminate(self): pass
        kill = close = terminate
    class Result:
        def __init__(self, f, args, kwargs, callback=None, error_callback=None):
            self.error = None
            try:
                self.value = f(*args, **kwargs)
            except Exception as e:
                self.error = e
                if error_callback: error_callback(e)
            else:
                if callback: callback(self.value)
        def get(self, timeout=None):
            if self.error is not None: raise self.error
            return self.value
        def wait(self, timeout=None): pass
        def ready(self): return True
        def successful(self): return self.error is None
    class Pool:
        def __init__(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None):
            if initializer: initializer(*initargs)
        def apply(self, f, args=(), kwds={}): return f(*args, **kwds)
        def apply_async(self, f, args=(), kwds={}, callback=None, error_callback=None):
            return Result(f, args, kwds, callback, error_callback)
        def map(self, f, it, chunksize=None): return [f(x) for x in it]
        def map_async(self, f, it, chunksize=None, callback=None, error_callback=None):
            return Result(self.map, (f, list(it)), {}, callback, error_callback)
        def imap(self, f, it, chunksize=1): return (f(x) for x in list(it))
        imap_unordered = imap
        def starmap(self, f, it, chunksize=None): return [f(*x) for x in it]
        def close(self): pass
        terminate = join = close
        def __enter__(self): return self
        def __exit__(self, *a): pass
    class Value:
        def __init__(self, kind, value=0, *, lock=True):
            self.value, self._lock = value, threading.RLock()
        def get_lock(self): return self._lock
    def Array(kind, init, *, lock=True):
        return [0] * init if isinstance(init, int) else list(init)
    names = dict(Process=Process, Pool=Pool, Queue=queue.Queue, SimpleQueue=queue.Queue, JoinableQueue=queue.Queue,
                 Lock=threading.Lock, RLock=threading.RLock, Event=threading.Event, Condition=threading.Condition,
                 Semaphore=threading.Semaphore, BoundedSemaphore=threading.BoundedSemaphore,
                 Barrier=threading.Barrier, Value=Value, Array=Array, cpu_count=lambda: 1,
                 current_process=lambda: types.SimpleNamespace(name='MainProcess', pid=1, daemon=False),
                 active_children=lambda: [], freeze_support=lambda: None, get_start_method=lambda allow_none=False: 'fork',
                 set_start_method=lambda method, force=False: None, TimeoutError=TimeoutError)
    m = _module('multiprocessing', __path__=[], **names)
    m.get_context = lambda method=None: m
    m.pool = _module('multiprocessing.pool', Pool=Pool, ThreadPool=Pool)
    m.dummy = _module('multiprocessing.dummy', __path__=[], **names)
    _module('multiprocessing.synchronize', **names)
_multiprocessing()
os.cpu_count = lambda: 1
for _name in ('getpid', 'getppid', 'getuid', 'geteuid', 'getgid', 'getegid'):
    if not hasattr(os, _name):
        setattr(os, _name, lambda: 1000)
