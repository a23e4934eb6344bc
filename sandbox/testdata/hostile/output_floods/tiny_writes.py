# expect: output
import os
while True: os.write(1, b'x')
