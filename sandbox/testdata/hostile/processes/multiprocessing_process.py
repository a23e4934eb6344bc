# expect: ok
import multiprocessing as m
p = m.Process(target=print, args=('in place',)); p.start(); p.join(); print(p.exitcode)
