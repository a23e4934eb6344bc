# expect: syntax
if 1:
pass
