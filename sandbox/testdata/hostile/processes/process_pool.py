# expect: ok
import concurrent.futures as c, os
with c.ProcessPoolExecutor() as p:
    print(list(p.map(abs, [-1, -2])))
