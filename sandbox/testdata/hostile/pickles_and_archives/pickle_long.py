# expect: ok
import pickle
try: pickle.loads(b'\x80\x04\x8d\xff\xff\xff\x3f\0\0\0\0x.')
except Exception as e: print('blocked')
