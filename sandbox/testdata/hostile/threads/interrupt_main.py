# expect: exception
import _thread
_thread.interrupt_main()
for i in range(10**6): pass
print('no signal came')
