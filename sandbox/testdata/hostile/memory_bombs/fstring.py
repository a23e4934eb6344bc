# expect: memory time
n = 10**9
x = f'{1:{n}d}'
