# expect: time
any(iter(int, 1))
