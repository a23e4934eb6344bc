# expect: ok
import gc
print(len(gc.get_referrers(print)) > 0)
