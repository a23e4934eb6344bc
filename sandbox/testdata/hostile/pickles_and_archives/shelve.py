# expect: ok
import shelve
try:
    s = shelve.open('/tmp/s'); s['a'] = 1; s.close(); print('ok')
except ImportError: print('no dbm')
