# expect: time
import hashlib
while True: hashlib.sha512(bytes(10**6))
