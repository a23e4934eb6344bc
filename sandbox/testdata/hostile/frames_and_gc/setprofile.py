# expect: ok
import sys
sys.setprofile(lambda *a: None); print('ok')
