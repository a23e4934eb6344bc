# Runs a checker in an instance of its own. `data` holds four texts, each after
# its length: the checker's source, the test's input, the program's output, the
# expected output. A checker is one of
#
# - a function check(input, output, expected) whose result says whether the
#   output is right;
# - a script that reads the files sys.argv[1:4] (input, expected, output) and
#   prints 1, true, ok or ac where the output is right, or ends with an exit code.
import builtins, io, sys


def texts(b):
    at, out = 0, []
    while at < len(b):
        n = int.from_bytes(b[at:at + 8], 'little')
        out.append(b[at + 8:at + 8 + n].decode('utf-8', 'replace'))
        at += 8 + n
    return out


def judge():
    source, given, output, expected = texts(data)
    sys.argv = ['checker.py']
    for name, text in ('input', given), ('expected', expected), ('output', output):
        path = '/tmp/' + name + '.txt'
        with open(path, 'w', encoding='utf-8', newline='') as f:
            f.write(text)
        sys.argv.append(path)
    sys.stdin, printed = io.StringIO(given), io.StringIO()
    screen, sys.stdout = sys.stdout, printed
    ns = {'__name__': '__main__', '__builtins__': builtins, 'input_data': given, 'expected': expected, 'output': output}
    try:
        exec(compile(source, 'checker.py', 'exec', 0, True), ns)
        if callable(ns.get('check')):
            return bool(ns['check'](given, output, expected))
    except SystemExit as e:
        if e.code not in (None, 0):
            return False
        if not printed.getvalue().strip():
            return True
    finally:
        sys.stdout = screen
    words = printed.getvalue().split()
    if not words:
        raise ValueError('the checker neither defines check() nor prints a verdict')
    try:
        return float(words[0]) >= 1
    except ValueError:
        return words[0].lower().strip('.:,') in ('true', 'ok', 'ac', 'accepted', 'yes', 'correct')


report(b'right' if judge() else b'wrong')
