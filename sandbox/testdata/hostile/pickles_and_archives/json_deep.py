# expect: ok
import json
try: json.loads('[' * 100000)
except (RecursionError, ValueError): print('blocked')
