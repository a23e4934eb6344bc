# expect: ok
try: exec('print(1)\0')
except (ValueError, SyntaxError): print('blocked')
