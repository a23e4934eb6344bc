# expect: time memory
x = [type('C%d' % i, (), {}) for i in range(10**6)]
