# expect: time
import math
math.factorial(10**6)
