# expect: ok
import xml.etree.ElementTree as E
s = '<!DOCTYPE l [<!ENTITY a "' + 'x' * 100 + '">' + ''.join('<!ENTITY a%d "%s">' % (i, ('&a%d;' % (i - 1) if i else '&a;') * 10) for i in range(12)) + ']><l>&a11;</l>'
try: E.fromstring(s)
except E.ParseError: print('blocked')
