# expect: ok
import sqlite3
try: sqlite3.connect(':memory:').execute('select length(zeroblob(900000000))').fetchall(); print('virtual')
except (MemoryError, sqlite3.Error): print('blocked')
