# expect: memory time
import array
a = array.array('q', [0])
while True: a.extend(a)
