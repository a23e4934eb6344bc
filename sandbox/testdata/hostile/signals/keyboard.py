# expect: exception
raise KeyboardInterrupt
