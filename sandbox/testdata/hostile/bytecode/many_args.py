# expect: ok
exec('def f(' + ','.join('a%d' % i for i in range(5000)) + '): pass'); print('ok')
