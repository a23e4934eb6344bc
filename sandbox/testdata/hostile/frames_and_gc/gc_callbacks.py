# expect: ok
import gc
gc.callbacks.append(lambda *a: 1 / 0)
gc.collect(); print('ok')
