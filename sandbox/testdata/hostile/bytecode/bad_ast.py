# expect: ok
import ast
try: compile(ast.Expression(ast.Constant(object())), '', 'eval')
except TypeError: print('blocked')
