# expect: exception
import sys
sys.stderr = None
raise ValueError
