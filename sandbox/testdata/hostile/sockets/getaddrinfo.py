# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import socket; got(socket.getaddrinfo('localhost', 80))
except BaseException as e:
    print("blocked", type(e).__name__)
