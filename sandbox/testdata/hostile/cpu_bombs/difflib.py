# expect: ok
import difflib
difflib.SequenceMatcher(None, 'ab' * 5000, 'ba' * 5000).ratio()
