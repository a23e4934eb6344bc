# expect: ok
import threading
l = []
ts = [threading.Thread(target=l.append, args=(i,)) for i in range(1000)]
for t in ts: t.start()
for t in ts: t.join()
print(len(l))
