# expect: time
import hashlib
hashlib.pbkdf2_hmac('sha512', b'x', b'y', 10**9)
