# expect: ok
import marshal
for i in range(256):
    try: marshal.loads(bytes([i]) * 40)
    except Exception: pass
print('ok')
