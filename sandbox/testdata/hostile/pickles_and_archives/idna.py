# expect: time
try: ('a' * 10**5 + '\u0300').encode('idna')
except UnicodeError: print('blocked')
