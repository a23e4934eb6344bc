# expect: time
import warnings
warnings.simplefilter('always')
while True: warnings.warn('x')
