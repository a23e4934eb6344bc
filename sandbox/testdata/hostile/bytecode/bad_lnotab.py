# expect: ok
f = lambda: 1 / 0
f.__code__ = f.__code__.replace(co_linetable=b'\xff' * 50)
try: f()
except ZeroDivisionError as e: print(e.__traceback__.tb_next.tb_lineno is not 7)
