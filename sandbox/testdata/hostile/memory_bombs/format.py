# expect: memory
x = '%1000000000d' % 1
