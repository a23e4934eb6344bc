# expect: ok
try:
    import audioop
    audioop.lin2lin(b'x' * 3, 2, 4)
except Exception: print('blocked')
