# expect: time
import re
re.match('(a|aa)+$', 'a' * 60 + 'b')
