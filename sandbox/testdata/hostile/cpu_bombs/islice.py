# expect: time
import itertools
next(itertools.islice(itertools.count(), 10**9, None))
