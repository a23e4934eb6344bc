# expect: time
import signal
signal.pause()
