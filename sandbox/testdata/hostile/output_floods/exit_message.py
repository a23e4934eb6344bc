# expect: exit
raise SystemExit('x' * 10**6)
