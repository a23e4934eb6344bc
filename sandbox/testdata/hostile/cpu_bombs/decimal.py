# expect: time
import decimal
decimal.getcontext().prec = 10**5
x = decimal.Decimal(2)
while True: x = x.sqrt() + 1
