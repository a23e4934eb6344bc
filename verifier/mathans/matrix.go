package mathans

// maxEntries bounds the entries of a computed matrix.
const maxEntries = 100

// matrixValue carries out sums and products of matrices, and products with
// numbers. What it can not carry out stays as it is.
func (c *comparer) matrixValue(n *node) *node {
	if n.op == opMatrix || !n.any(func(m *node) bool { return m.op == opMatrix }) {
		return n
	}
	switch n.op {
	case opNeg:
		return c.scaled(c.matrixValue(n.args[0]), integer(-1))
	case opDiv:
		return c.scaled(c.matrixValue(n.args[0]), build(opDiv, integer(1), n.args[1]))
	case opAdd, opMul:
		r := c.matrixValue(n.args[0])
		for _, a := range n.args[1:] {
			a = c.matrixValue(a)
			switch {
			case n.op == opAdd:
				r = c.sumOf(r, a)
			case r.op == opMatrix && a.op == opMatrix:
				r = c.productOf(r, a)
			case r.op == opMatrix:
				r = c.scaled(r, a)
			case a.op == opMatrix:
				r = c.scaled(a, r)
			default:
				r = build(opMul, r, a)
			}
		}
		return r
	}
	return n
}

func (c *comparer) scaled(m, by *node) *node {
	if m.op != opMatrix {
		return build(opMul, m, by)
	}
	out := &node{op: opMatrix, cols: m.cols}
	for _, a := range m.args {
		out.args = append(out.args, build(opMul, by, a))
	}
	return out
}

func (c *comparer) sumOf(x, y *node) *node {
	if x.op != opMatrix || y.op != opMatrix || x.cols != y.cols || len(x.args) != len(y.args) {
		return build(opAdd, x, y)
	}
	out := &node{op: opMatrix, cols: x.cols}
	for i := range x.args {
		out.args = append(out.args, build(opAdd, x.args[i], y.args[i]))
	}
	return out
}

func (c *comparer) productOf(x, y *node) *node {
	rows, inner := len(x.args)/x.cols, x.cols
	if inner != len(y.args)/y.cols || rows*y.cols > maxEntries || inner > 10 {
		return build(opMul, x, y)
	}
	out := &node{op: opMatrix, cols: y.cols}
	for i := range rows {
		for j := range y.cols {
			sum := &node{op: opAdd}
			for k := range inner {
				sum.args = append(sum.args, build(opMul, x.args[i*inner+k], y.args[k*y.cols+j]))
			}
			out.args = append(out.args, sum)
		}
	}
	return out
}
