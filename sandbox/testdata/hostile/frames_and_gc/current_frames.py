# expect: ok
import sys
print(len(sys._current_frames()))
