# expect: ok
import sys
try: 1 / 0
except ZeroDivisionError as e:
    f = e.__traceback__.tb_frame.f_back
    print('job' in (f.f_globals if f else {}))
