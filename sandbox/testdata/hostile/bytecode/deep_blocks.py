# expect: ok
s = ''
for i in range(150): s += ' ' * i + 'if 1:\n'
try: exec(s + ' ' * 150 + 'pass')
except (IndentationError, SyntaxError): print('blocked')
