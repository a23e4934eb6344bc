# expect: time memory
# Makes the host allocate again and again.
n = 0
while True:
    f = open('/tmp/%d' % n, 'wb')
    f.truncate(16000000)
    f.close()
    import os
    os.unlink('/tmp/%d' % n)
    n += 1
