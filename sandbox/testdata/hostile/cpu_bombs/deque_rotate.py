# expect: time
from collections import deque
d = deque(range(10**6))
while True: d.rotate(10**5)
