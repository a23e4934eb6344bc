# expect: ok
import queue
try: queue.Queue().get(timeout=0.01)
except queue.Empty: print('empty')
