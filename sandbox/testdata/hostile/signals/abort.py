# expect: exception
import os
os.abort()
