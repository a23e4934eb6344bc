# Reports `result` typed, as report.go reads it, where marshal can't. Values are
# read through the methods of the built-in types themselves, so a subclass is
# what it holds and nothing that it claims.


def sized(mark, s):
    b = str.encode(s, 'utf-8', 'surrogatepass')
    return b'%b%d:%b' % (mark, len(b), b)


def scalar(v, t):
    if v is None:
        return b'n'
    if v is True:
        return b't'
    if v is False:
        return b'f'
    if issubclass(t, int):
        return b'i%b;' % int.__format__(v, 'x').encode()
    if issubclass(t, float):
        return b'd%b;' % float.__repr__(v).encode()
    if issubclass(t, str):
        return sized(b's', v)
    return sized(b'?', type.__dict__['__name__'].__get__(t))


def flat(items):
    for k, v in items:
        yield k
        yield v


def encoded(v):
    out, open_ = [], []
    while True:
        t = type(v)
        if len(open_) > 900:
            out.append(b'?8:too deep')
        elif issubclass(t, list):
            out.append(b'[')
            open_.append((list.__iter__(v), b']'))
        elif issubclass(t, tuple):
            out.append(b'(')
            open_.append((tuple.__iter__(v), b')'))
        elif issubclass(t, dict):
            out.append(b'{')
            open_.append((flat(dict.items(v)), b'}'))
        else:
            out.append(scalar(v, t))
        while open_:
            try:
                v = next(open_[-1][0])
                break
            except StopIteration:
                out.append(open_.pop()[1])
        else:
            return b''.join(out)


report(encoded(result))
