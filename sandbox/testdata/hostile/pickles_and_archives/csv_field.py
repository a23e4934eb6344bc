# expect: ok
import csv
try: list(csv.reader(['x' * 10**6]))
except csv.Error: print('blocked')
