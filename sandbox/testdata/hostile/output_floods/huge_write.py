# expect: output
import os
os.write(1, bytes(50 * 10**6))
