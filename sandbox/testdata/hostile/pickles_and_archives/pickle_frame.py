# expect: ok
import pickle
try: pickle.loads(b'\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.')
except Exception as e: print('blocked')
