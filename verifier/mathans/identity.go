package mathans

import (
	"hash/fnv"
	"math/big"
	"sort"
)

// verdict is what a comparison of two values finds.
type verdict int

const (
	no verdict = iota
	yes
	unknown
)

// comparer decides one pair of answers.
type comparer struct {
	bud   *budget
	opt   Options
	rule  string // the deepest rule that decided
	depth int
}

// precisions are the steps of ball arithmetic. Values that agree at the last
// one, to more than 1,000 bits, count as equal.
var precisions = [...]uint{64, 320, 1088}

// expressions compares two scalar expressions.
func (c *comparer) expressions(x, y *node) verdict {
	rat := &ratEval{bud: c.bud}
	a, aerr := rat.eval(x)
	b, berr := rat.eval(y)
	if aerr == nil && berr == nil {
		c.rule = "rational"
		return verdictOf(a.Cmp(b) == 0)
	}
	if x.same(y) {
		c.rule = "same expression"
		return yes
	}
	if !x.scalar() || !y.scalar() {
		c.rule = "text"
		return no
	}
	x, y = opaque(x), opaque(y)
	names := variables(x, y)
	if len(names) == 0 {
		return c.constants(x, y, aerr == errHuge || berr == errHuge)
	}
	v := c.rationalFunctions(x, y, names)
	if v == unknown {
		v = c.functions(x, y, names)
	}
	return v
}

func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// opaque turns applications of unknown functions into variables, and
// subscripted or primed names into plain ones.
func opaque(n *node) *node {
	return n.replace(func(m *node) *node {
		if m.op == opCall {
			return variable(m.key())
		}
		return nil
	})
}

// variables lists the free variables of both expressions in order.
func variables(nodes ...*node) []string {
	seen := map[string]bool{}
	var bound func(n *node, inner map[string]bool)
	bound = func(n *node, inner map[string]bool) {
		if n.op == opVar && !inner[n.name] {
			seen[n.name] = true
		}
		if n.op == opSum {
			with := map[string]bool{n.args[0].name: true}
			for k := range inner {
				with[k] = true
			}
			bound(n.args[1], inner)
			bound(n.args[2], inner)
			bound(n.args[3], with)
			return
		}
		for _, a := range n.args {
			bound(a, inner)
		}
	}
	for _, n := range nodes {
		bound(n, nil)
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// random is a stream of numbers that depends on nothing but the expressions:
// an answer can not be fitted to the points it will be tried at without
// knowing itself, and a verdict is the same everywhere.
type random struct{ state uint64 }

func newRandom(x, y *node) *random {
	h := fnv.New64a()
	for _, n := range []*node{x, y} {
		h.Write([]byte(n.key()))
	}
	return &random{h.Sum64()}
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// prime finds a prime p = 1 mod 4 of 61 bits, a different one every time.
func (r *random) prime() uint64 {
	for p := r.next()>>4 | 1<<60; ; p += 4 {
		p = p&^3 | 1
		if new(big.Int).SetUint64(p).ProbablyPrime(0) {
			return p
		}
	}
}

// primes for polynomial identities, both 1 mod 4.
var fixedPrimes = [...]uint64{2305843009213693921, 2305843009213693693}

// rationalFunctions compares rational functions with rational or Gaussian
// coefficients at random points modulo two primes.
func (c *comparer) rationalFunctions(x, y *node, names []string) verdict {
	r := newRandom(x, y)
	agreed := 0
	for try := 0; try < 12 && agreed < 4; try++ {
		p := fixedPrimes[try%2]
		env := make(map[string]uint64, len(names))
		for _, name := range names {
			env[name] = r.next() % p
		}
		e := newModEval(p, c.bud, env)
		a, err := e.eval(x)
		if err == nil {
			var b uint64
			if b, err = e.eval(y); err == nil && a != b {
				c.rule = "rational function"
				return no
			}
		}
		switch err {
		case nil:
			agreed++
		case errDomain: // a pole: try another point
		default:
			return unknown
		}
	}
	if agreed < 4 {
		return unknown
	}
	c.rule = "rational function"
	return yes
}

// constants compares expressions without variables.
func (c *comparer) constants(x, y *node, huge bool) verdict {
	if huge {
		if v := c.hugeRationals(x, y); v != unknown {
			return v
		}
	}
	if v := c.radicals(x, y); v != unknown {
		return v
	}
	c.rule = "ball arithmetic"
	for i, prec := range precisions {
		e := &ballEval{prec: prec, bud: c.bud}
		a, aerr := e.eval(x)
		b, berr := e.eval(y)
		if aerr == errHuge || berr == errHuge {
			return c.logarithms(x, y)
		}
		if aerr == errUnsure || berr == errUnsure {
			continue
		}
		if aerr != nil || berr != nil {
			return failed(aerr, berr)
		}
		d := a.add(b.neg(), prec)
		if !d.re.hasZero() || !d.im.hasZero() {
			return no
		}
		if i == len(precisions)-1 {
			return agree(a, b, d)
		}
	}
	return unknown
}

// failed judges a comparison in which a side has no value.
func failed(a, b error) verdict {
	if a == errBudget || b == errBudget || a == errUnknown || b == errUnknown {
		return unknown
	}
	if (a == errDomain) != (b == errDomain) {
		return no // one has a value, the other has none
	}
	return unknown
}

// agree decides between values whose difference may be zero: they are equal when
// they agree to 1,000 bits.
func agree(a, b, d cball) verdict {
	size := max(magOf(a.re.m).exp(), magOf(a.im.m).exp(), magOf(b.re.m).exp(), magOf(b.im.m).exp())
	if d.re.r.add(d.im.r).exp() <= max(size, 0)-1000 || d.re.r.add(d.im.r).exp() <= size-1000 {
		return yes
	}
	return unknown
}

// hugeRationals compares rationals too long to write out modulo primes that
// nobody can know beforehand.
func (c *comparer) hugeRationals(x, y *node) verdict {
	r := newRandom(x, y)
	c.rule = "modular"
	for range 3 {
		if !c.bud.spend(20_000) {
			return unknown
		}
		e := newModEval(r.prime(), c.bud, nil)
		a, aerr := e.eval(x)
		b, berr := e.eval(y)
		if aerr != nil || berr != nil {
			return unknown
		}
		if a != b {
			return no
		}
	}
	return yes
}
