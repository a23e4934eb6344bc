# expect: ok
import marshal
marshal.loads = marshal.dumps = None
print('ok')
