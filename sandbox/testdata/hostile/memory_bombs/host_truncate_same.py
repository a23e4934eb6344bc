# expect: time memory
f = open('/tmp/x', 'wb')
while True:
    f.truncate(0)
    f.truncate(16000000)
