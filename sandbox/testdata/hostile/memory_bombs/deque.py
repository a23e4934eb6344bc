# expect: memory time
from collections import deque
d = deque()
while True: d.append('x' * 10**5 + str(len(d)))
