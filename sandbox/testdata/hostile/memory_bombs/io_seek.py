# expect: memory time
import io
b = io.BytesIO(); b.seek(10**9); b.write(b'x')
