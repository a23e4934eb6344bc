# expect: time
import sys
sys.set_int_max_str_digits(0)
str(3 ** (10**6))
