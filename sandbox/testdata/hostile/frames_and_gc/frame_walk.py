# expect: ok
import sys
f = sys._getframe(); found = []
while f:
    for k, v in list(f.f_locals.items()) + list(f.f_globals.items()):
        if 'expected' in str(k) or '@SECRET@' in repr(v)[:10000] and f is not sys._getframe(): found.append(k)
    f = f.f_back
print('ESCAPED' if [k for k in found if k not in ('f', 'found', 'k', 'v')] else 'nothing')
