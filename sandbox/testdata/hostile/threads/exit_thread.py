# expect: ok
import threading, sys
t = threading.Thread(target=sys.exit, args=(3,)); t.start(); t.join(); print('main goes on')
