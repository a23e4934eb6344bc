# expect: ok
import os
def got(x):
    print("ESCAPED " + repr(x)[:80] if x else "nothing")
try:
    import http.server as h; got(h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler))
except BaseException as e:
    print("blocked", type(e).__name__)
