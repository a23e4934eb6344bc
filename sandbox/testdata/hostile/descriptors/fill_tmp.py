# expect: ok
n = 0
try:
    while True:
        open('/tmp/%d' % n, 'wb').write(bytes(1 << 20)); n += 1
except OSError:
    print('blocked', n <= 16)
