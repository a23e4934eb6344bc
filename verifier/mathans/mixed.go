package mathans

import "math/big"

// juxtaposed multiplies by the next factor, or adds it when both are the parts
// of a mixed number.
func (p *parser) juxtaposed(n *node) *node {
	whole := n.op == opNum && n.lit && n.rat.IsInt()
	f := p.factor()
	if whole && properFraction(f) {
		return mixedNumber(n, f)
	}
	if whole && (f.op == opPercent || f.op == opDegree) && properFraction(f.args[0]) { // 16 2/3 %
		return build(f.op, mixedNumber(n, f.args[0]))
	}
	return mul(n, f)
}

func mixedNumber(n, f *node) *node {
	return num(new(big.Rat).Add(n.rat, new(big.Rat).Quo(f.args[0].rat, f.args[1].rat)))
}

// properFraction reports whether a node is a fraction of two written integers,
// the smaller above.
func properFraction(n *node) bool {
	if n.op != opDiv || n.args[0].op != opNum || n.args[1].op != opNum {
		return false
	}
	a, b := n.args[0], n.args[1]
	return a.lit && b.lit && a.rat.IsInt() && b.rat.IsInt() && a.rat.Cmp(b.rat) < 0 && b.rat.Sign() > 0
}

// mixed reads the rest of "1 4/5". Any other number after a number or a letter
// is an error: "4 2" is no product, nor is "x2".
func (p *parser) mixed(n *node) *node {
	if n.op != opNum || !n.lit || !n.rat.IsInt() {
		return p.fail()
	}
	a := p.next()
	if !a.space || a.mark || !p.take("/") {
		return p.fail()
	}
	b := p.next()
	if b.kind != tNum || b.mark || a.rat.Cmp(b.rat) >= 0 {
		return p.fail()
	}
	q := new(big.Rat).Quo(a.rat, b.rat)
	return num(q.Add(q, n.rat))
}
