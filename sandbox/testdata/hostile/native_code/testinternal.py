# expect: ok
import _testinternalcapi
print('a test module can only break its own guest')
