# expect: ok
import gc
gc.disable(); print('ok')
