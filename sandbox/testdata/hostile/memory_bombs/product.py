# expect: time memory
import itertools
x = list(itertools.product(range(100), repeat=4))
