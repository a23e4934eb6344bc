# expect: time
import queue
queue.Queue().get()
