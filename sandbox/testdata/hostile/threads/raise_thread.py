# expect: ok
import threading
t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join(); print('main goes on')
