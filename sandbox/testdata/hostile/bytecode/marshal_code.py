# expect: ok exception memory
import marshal
c = marshal.dumps(compile('1', '', 'eval'))
for i in range(len(c)):
    try: eval(marshal.loads(c[:i] + b'\xff' + c[i + 1:]))
    except BaseException: pass
print('ok')
