# Runs the statements in `data` after the program, and reports that every
# assertion among them held. The expected values are inside the guest here, so a
# determined program can find them; what this keeps out is a pass without them:
#
# - an early exit reports nothing;
# - a failed assertion is remembered, whoever catches its exception;
# - built-in names mean the built-in functions, whatever the program rebound;
# - an object of the program's own class is never equal to plain data by its own
#   word;
# - the library is what it was before the program: whatever that patched is put back.
restore(False)
import _ast, sys, types

PLAIN = (int, float, complex, bool, str, bytes, bytearray, type(None), range, slice)
GROUPS = (list, tuple, set, frozenset, dict)
COMPARE = {'Eq': lambda a, b: a == b, 'NotEq': lambda a, b: a != b, 'Lt': lambda a, b: a < b,
           'LtE': lambda a, b: a <= b, 'Gt': lambda a, b: a > b, 'GtE': lambda a, b: a >= b,
           'In': lambda a, b: a in b, 'NotIn': lambda a, b: a not in b,
           'Is': lambda a, b: a is b, 'IsNot': lambda a, b: a is not b}
ARITHMETIC = {'Add': lambda a, b: a + b, 'Sub': lambda a, b: a - b, 'Mult': lambda a, b: a * b,
              'Div': lambda a, b: a / b, 'FloorDiv': lambda a, b: a // b, 'Mod': lambda a, b: a % b,
              'Pow': lambda a, b: a ** b, 'MatMult': lambda a, b: a @ b, 'BitAnd': lambda a, b: a & b,
              'BitOr': lambda a, b: a | b, 'BitXor': lambda a, b: a ^ b, 'LShift': lambda a, b: a << b,
              'RShift': lambda a, b: a >> b}
OVERRIDES = frozenset('__%s__' % n for n in 'eq ne lt le gt ge add radd sub rsub mul rmul truediv rtruediv '
                      'floordiv rfloordiv mod rmod pow rpow matmul rmatmul and rand or ror xor rxor lshift rlshift '
                      'rshift rrshift'.split())
SLOT = type(int.__eq__)
mro_of = type.__dict__['__mro__'].__get__
dict_of = type.__dict__['__dict__'].__get__


ONLY_AST = 1024  # ast.PyCF_ONLY_AST


class Failed(AssertionError):
    pass


def foreign_class(t):
    """
    Is t a class of the program's with comparisons or arithmetic of its own? Those
    of the library are put back before they are asked.
    """
    for c in mro_of(t):
        methods = dict_of(c)
        for name in OVERRIDES.intersection(methods):
            f = methods[name]
            if id(c) in library:
                if type(f) is not SLOT:
                    restore(True)
                    break
            elif f is not None and not (type(f) is SLOT and f.__name__ == name):
                return True
    return False


def foreign(v):
    "Does v hold an object of such a class?"
    todo, seen = [v], 0
    while todo:
        v = todo.pop()
        t = type(v)
        if t in PLAIN:
            continue
        seen += 1
        if seen > 200000:
            return False
        if t in GROUPS or issubclass(t, GROUPS):
            if t not in GROUPS and foreign_class(t):
                return True
            base = next(g for g in GROUPS if issubclass(t, g))
            todo.extend(base.__iter__(v))
            if base is dict:
                todo.extend(dict.values(v))
        elif foreign_class(t):
            return True
    return False


def by_own_word(op, a, b):
    "Would the program's object decide a comparison with plain data?"
    if op in ('Is', 'IsNot'):
        return False
    if op in ('In', 'NotIn'):
        return a and not b
    return a != b


def guard():
    "The functions that the rewritten statements call, and what they found."
    failed, held = [], []

    def fail(message):
        failed.append(message)
        raise Failed(message)

    def compare(ops, *operands):
        result = True
        for op, a, b in zip(ops.split(), operands, operands[1:]):
            if by_own_word(op, foreign(a), foreign(b)):
                fail('an object of the program\'s own class is compared with plain data')
            result = COMPARE[op](a, b)
            if not result:
                return result
        return result

    def arithmetic(op, a, b):
        result = ARITHMETIC[op](a, b)
        if foreign(a) != foreign(b) and not foreign(result):
            fail('an object of the program\'s own class reckons with plain data')
        return result

    def check(ok, message=None):
        if not ok:
            fail('assertion failed' if message is None else str(message))
        held.append(True)

    return failed, held, {'__compare__': compare, '__arithmetic__': arithmetic, '__check__': check}


def call(name, args, at):
    f = _ast.Name(name, _ast.Load(), **at)
    return _ast.Call(f, args, [], **at)


def rewrite(node):
    "Replaces assert, comparisons and arithmetic by calls of the guard."
    if type(node) is list:
        return [rewrite(n) for n in node]
    if not isinstance(node, _ast.AST):
        return node
    for field in node._fields:
        if hasattr(node, field):
            setattr(node, field, rewrite(getattr(node, field)))
    kind = type(node)
    if kind not in (_ast.Assert, _ast.Compare, _ast.BinOp):
        return node
    at = {k: getattr(node, k) for k in ('lineno', 'col_offset', 'end_lineno', 'end_col_offset')}
    if kind is _ast.Assert:
        args = [node.test] + ([node.msg] if node.msg is not None else [])
        return _ast.Expr(call('__check__', args, at), **at)
    if kind is _ast.Compare:
        ops = ' '.join(type(o).__name__ for o in node.ops)
        return call('__compare__', [_ast.Constant(ops, **at), node.left] + node.comparators, at)
    return call('__arithmetic__', [_ast.Constant(type(node.op).__name__, **at), node.left, node.right], at)


def walk(node):
    todo = [node]
    while todo:
        n = todo.pop()
        if type(n) is list:
            todo.extend(n)
        elif isinstance(n, _ast.AST):
            yield n
            todo.extend(getattr(n, f, None) for f in n._fields)


def literal(node):
    return all(not isinstance(n, (_ast.Call, _ast.Name, _ast.Attribute)) for n in walk(node))


def under_test(tree, builtin):
    "Built-in names that the statements mean as the program's: called with literals only."
    verdict = {}
    for n in walk(tree):
        if type(n) is _ast.Call and type(n.func) is _ast.Name and n.func.id in builtin:
            ok = all(literal(a) for a in n.args) and bool(n.args)
            verdict[n.func.id] = verdict.get(n.func.id, True) and ok
    return {name for name, ok in verdict.items() if ok}


def namespace(tree, builtin):
    program_functions = under_test(tree, builtin)
    ns = {k: v for k, v in dict.items(program) if k not in builtin or k in program_functions}
    ns['__builtins__'] = dict(builtin)
    ns['__name__'] = '__test__'
    return ns


def imported(tree):
    "Do the statements import more than the program and what is made anew?"
    return any(type(n) is _ast.Import and any(a.name not in ('math', 'cmath', 'solution') for a in n.names)
               or type(n) is _ast.ImportFrom and n.module not in ('math', 'cmath', 'solution') for n in walk(tree))


def modules():
    "What the statements import: the program as `solution`, and fresh arithmetic."
    sys.meta_path[:] = [m for m in sys.meta_path if getattr(m, '__module__', '')[:17] == '_frozen_importlib'
                        or type(m).__module__[:17] == '_frozen_importlib']
    for name in 'math', 'cmath':
        sys.modules.pop(name, None)
    solution = types.ModuleType('solution')
    solution.__dict__.update((k, v) for k, v in dict.items(program) if k[:2] != '__')
    sys.modules['solution'] = solution


def main():
    builtin = dict(__builtins__)
    tree = compile(data, 'test.py', 'exec', ONLY_AST, True)
    expected = sum(type(n) is _ast.Assert for n in walk(tree))
    ns = namespace(tree, builtin)
    failed, held, names = guard()
    ns.update(names)
    names = [n.name for n in tree.body if type(n) is _ast.FunctionDef and n.name[:4] == 'test' and not n.args.args]
    code = compile(rewrite(tree), 'test.py', 'exec', 0, True)
    if imported(tree):
        restore(True)
    modules()
    exec(code, ns)
    if not held:
        for name in names:
            ns[name]()
    if failed:
        raise Failed(failed[0])
    if expected and not held:
        raise Failed('no assertion was reached')
    report(b'held %d' % len(held))


main()
