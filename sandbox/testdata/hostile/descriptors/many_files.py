# expect: ok
n = 0
try:
    while True:
        open('/tmp/%d' % n, 'w').close(); n += 1
except OSError:
    print('blocked', n < 10000)
