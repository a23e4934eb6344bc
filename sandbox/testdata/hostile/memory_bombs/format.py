# expect: memory time
x = '%1000000000d' % 1
