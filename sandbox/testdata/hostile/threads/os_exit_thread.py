# expect: ok
import threading, os
print('x', flush=True)
threading.Thread(target=os._exit, args=(0,)).start(); print('never')
