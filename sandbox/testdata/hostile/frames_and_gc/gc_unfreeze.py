# expect: ok
import gc
gc.unfreeze(); gc.collect(); print('ok')
