# expect: ok
import sys
def t(f, e, a):
    raise SystemExit(0)
sys.settrace(t)
def g(): pass
g()
