# expect: ok
import ast
try: ast.literal_eval('[' * 10000)
except (MemoryError, SyntaxError, RecursionError): print('blocked')
