# expect: memory time
x = [bytes(10**6) for i in range(10**6)]
