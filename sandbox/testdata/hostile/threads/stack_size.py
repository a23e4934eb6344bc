# expect: ok
import threading
threading.stack_size(2**30)
t = threading.Thread(target=print, args=('ok',)); t.start()
