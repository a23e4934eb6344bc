# expect: time memory
import re
re.compile('(?:' * 90 + 'a' + ')*' * 90); x = re.compile('a{1000}' * 100000)
