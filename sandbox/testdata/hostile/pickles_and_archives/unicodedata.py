# expect: ok
import unicodedata
print(len(unicodedata.normalize('NFKD', '\ufdfa' * 10000)))
