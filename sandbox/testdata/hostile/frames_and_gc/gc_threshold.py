# expect: ok
import gc
gc.set_threshold(1)
x = [[i] for i in range(1000)]; print(len(x))
