# expect: ok
import codecs
try: codecs.decode(b'x' * 100, 'no_such_codec')
except LookupError: print('blocked')
