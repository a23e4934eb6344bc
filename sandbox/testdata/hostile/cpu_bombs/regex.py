# expect: time
import re
re.match('(a+)+$', 'a' * 40 + 'b')
