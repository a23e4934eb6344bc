# expect: ok
from concurrent.futures import ThreadPoolExecutor as T
print(sum(T(8).map(abs, range(-10, 0))))
