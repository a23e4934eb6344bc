# expect: memory time
import io
b = io.BytesIO()
while True: b.write(bytes(10**6))
