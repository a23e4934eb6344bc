package mathans

import (
	"math/big"
	"strings"
)

// op is the kind of a node.
type op uint8

const (
	opNum     op = iota // rat
	opVar               // name
	opConst             // name: pi, e, i
	opInf               // infinity; -infinity is its opNeg
	opAdd               // args
	opMul               // args
	opNeg               // args[0]
	opDiv               // args[0] / args[1]
	opPow               // args[0] ^ args[1]
	opFunc              // name(args)
	opCall              // name(args) of a function nobody knows, f(x)
	opPM                // args[0] ± args[1], or ± args[0]; name is pm or mp
	opDegree            // args[0] degrees
	opPercent           // args[0] percent
	opBase              // digits name in base rat
	opUnit              // args[0] with unit name
	opSum               // args: index variable, from, to, body; name is sum or prod
	opTuple             // args between the brackets in name, or bare where name is empty
	opSet               // {args}
	opList              // bare list; name is "," ";" "and" or "or"
	opUnion             // args
	opInter             // args
	opMinus             // args[0] without args[1]
	opNumbers           // a set of numbers, name R Q Z N
	opEmpty             // the empty set
	opBuild             // {args[0] | args[1]}
	opRel               // args with rels between them
	opMatrix            // args in rows of cols
	opRatio             // args[0] : args[1] ...
	opText              // name
)

// node is a parsed answer or a part of it.
type node struct {
	op   op
	name string
	rat  *big.Rat
	args []*node
	rels []string
	cols int
	lit  bool // a number as it was written, for mixed numbers and times
}

func num(r *big.Rat) *node            { return &node{op: opNum, rat: r} }
func integer(n int64) *node           { return num(big.NewRat(n, 1)) }
func variable(name string) *node      { return &node{op: opVar, name: name} }
func build(o op, args ...*node) *node { return &node{op: o, args: args} }
func call(name string, args ...*node) *node {
	return &node{op: opFunc, name: name, args: args}
}

// same reports whether two nodes are the same written expression.
func (n *node) same(m *node) bool {
	if n == m {
		return true
	}
	if n.op != m.op || n.name != m.name || len(n.args) != len(m.args) || n.cols != m.cols || len(n.rels) != len(m.rels) {
		return false
	}
	if (n.rat == nil) != (m.rat == nil) || n.rat != nil && n.rat.Cmp(m.rat) != 0 {
		return false
	}
	for i := range n.rels {
		if n.rels[i] != m.rels[i] {
			return false
		}
	}
	for i := range n.args {
		if !n.args[i].same(m.args[i]) {
			return false
		}
	}
	return true
}

// key writes a node in a form that tells different expressions apart.
func (n *node) key() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	b.WriteByte('(')
	b.WriteByte('A' + byte(n.op))
	b.WriteString(n.name)
	if n.rat != nil {
		b.WriteByte('#')
		b.WriteString(n.rat.RatString())
	}
	for i, a := range n.args {
		if i > 0 && i <= len(n.rels) {
			b.WriteString(n.rels[i-1])
		}
		a.write(b)
	}
	b.WriteByte(')')
}

// any reports whether f holds for the node or one inside it.
func (n *node) any(f func(*node) bool) bool {
	if f(n) {
		return true
	}
	for _, a := range n.args {
		if a.any(f) {
			return true
		}
	}
	return false
}

// replace gives a copy of the tree in which f has replaced nodes; where f gives
// nil the node is kept and its parts are looked at.
func (n *node) replace(f func(*node) *node) *node {
	if r := f(n); r != nil {
		return r
	}
	if len(n.args) == 0 {
		return n
	}
	c := *n
	c.args = make([]*node, len(n.args))
	for i, a := range n.args {
		c.args[i] = a.replace(f)
	}
	return &c
}

// scalar reports whether a node is an expression with one value: no container,
// relation or text in it.
func (n *node) scalar() bool {
	if n.op >= opTuple {
		return false
	}
	for _, a := range n.args {
		if !a.scalar() {
			return false
		}
	}
	return true
}
