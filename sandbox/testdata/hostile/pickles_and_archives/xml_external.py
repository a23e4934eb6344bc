# expect: ok
import xml.etree.ElementTree as E
try: print('ESCAPED' if E.fromstring('<!DOCTYPE l [<!ENTITY a SYSTEM "file://@FILE@">]><l>&a;</l>').text else 'nothing')
except E.ParseError: print('blocked')
