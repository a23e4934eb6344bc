# expect: memory time
import decimal
decimal.getcontext().prec = 10**8
x = decimal.Decimal(1) / 3
