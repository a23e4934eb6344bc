# expect: time
import ast
n = ast.Constant(1)
for i in range(100000): n = ast.UnaryOp(ast.USub(), n)
try: compile(ast.fix_missing_locations(ast.Expression(n)), '', 'eval')
except (RecursionError, MemoryError): print('blocked')
