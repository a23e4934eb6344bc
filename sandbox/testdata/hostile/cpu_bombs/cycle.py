# expect: time
import itertools
for x in itertools.cycle([1]): pass
