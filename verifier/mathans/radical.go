package mathans

import (
	"math/big"
	"sort"
)

// radical is a sum of rational multiples of square roots of squarefree whole
// numbers, with i as the root of -1. Such roots are linearly independent over
// the rationals, so two sums are equal only if all their terms are: what ball
// arithmetic makes sure to 1,000 bits is a proof here.
type radical map[int64]*big.Rat

// Limits of the field: larger numbers are left to ball arithmetic.
const (
	maxRadicand    = 1_000_000_000_000
	maxRootTerms   = 16
	maxRadicalBits = 1024
)

// radicalEval computes constants with square roots of rationals.
type radicalEval struct{ bud *budget }

func rationalRadical(q *big.Rat) radical {
	if q.Sign() == 0 {
		return radical{}
	}
	return radical{1: q}
}

func (e *radicalEval) eval(n *node) (radical, error) {
	if !e.bud.spend(30) {
		return nil, errBudget
	}
	switch n.op {
	case opNum:
		return rationalRadical(n.rat), nil
	case opConst:
		if n.name == "i" {
			return radical{-1: oneRat}, nil
		}
	case opNeg:
		return e.product(radical{1: big.NewRat(-1, 1)}, n.args[0])
	case opPercent:
		return e.product(radical{1: big.NewRat(1, 100)}, n.args[0])
	case opAdd, opMul:
		r, err := e.eval(n.args[0])
		for _, a := range n.args[1:] {
			if err != nil {
				return nil, err
			}
			if n.op == opMul {
				r, err = e.product(r, a)
			} else {
				r, err = e.sum(r, a)
			}
		}
		return r, err
	case opDiv:
		d, err := e.eval(n.args[1])
		if err == nil {
			d, err = e.inverse(d)
		}
		if err != nil {
			return nil, err
		}
		return e.product(d, n.args[0])
	case opPow:
		return e.power(n)
	case opFunc:
		if n.name == "root" && n.args[1].op == opNum && n.args[1].rat.Cmp(big.NewRat(2, 1)) == 0 {
			return e.root(n.args[0])
		}
	}
	return nil, errUnknown
}

func (e *radicalEval) sum(r radical, n *node) (radical, error) {
	s, err := e.eval(n)
	if err != nil {
		return nil, err
	}
	return e.plus(r, s)
}

func (e *radicalEval) plus(r, s radical) (radical, error) {
	out := make(radical, len(r)+len(s))
	for k, q := range r {
		out[k] = q
	}
	for k, q := range s {
		out.put(k, q)
	}
	return e.check(out)
}

// put adds a term.
func (r radical) put(k int64, q *big.Rat) {
	if old := r[k]; old != nil {
		q = new(big.Rat).Add(old, q)
	}
	if q.Sign() == 0 {
		delete(r, k)
	} else {
		r[k] = q
	}
}

func (e *radicalEval) check(r radical) (radical, error) {
	if len(r) > maxRootTerms {
		return nil, errUnknown
	}
	for _, q := range r {
		if ratBits(q) > maxRadicalBits {
			return nil, errUnknown
		}
	}
	if !e.bud.spend(60 * len(r)) {
		return nil, errBudget
	}
	return r, nil
}

func (e *radicalEval) product(r radical, n *node) (radical, error) {
	s, err := e.eval(n)
	if err != nil {
		return nil, err
	}
	return e.times(r, s)
}

func (e *radicalEval) times(r, s radical) (radical, error) {
	if !e.bud.spend(60 * len(r) * len(s)) {
		return nil, errBudget
	}
	out := radical{}
	for a, p := range r {
		for b, q := range s {
			k, factor, ok := rootProduct(a, b)
			if !ok {
				return nil, errUnknown
			}
			t := new(big.Rat).Mul(p, q)
			out.put(k, t.Mul(t, factor))
		}
	}
	return e.check(out)
}

// rootProduct is √a √b = factor √k for squarefree a and b.
func rootProduct(a, b int64) (k int64, factor *big.Rat, ok bool) {
	sign := int64(1)
	if a < 0 && b < 0 {
		sign = -1
	}
	x, y := max(a, -a), max(b, -b)
	g := gcd64(x, y)
	x, y = x/g, y/g
	if x > maxRadicand/y {
		return 0, nil, false
	}
	if k = x * y; (a < 0) != (b < 0) {
		k = -k
	}
	return k, big.NewRat(sign*g, 1), true
}

func gcd64(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// inverse makes the denominator rational, one prime after another: the
// conjugate flips the sign of every root that the prime divides.
func (e *radicalEval) inverse(d radical) (radical, error) {
	if len(d) == 0 {
		return nil, errDomain
	}
	out := radical{1: oneRat}
	for range 8 {
		if q := d[1]; q != nil && len(d) == 1 {
			return e.times(out, radical{1: new(big.Rat).Inv(q)})
		}
		p := d.somePrime()
		conj := make(radical, len(d))
		for k, q := range d {
			if p < 0 && k < 0 || p > 0 && k%p == 0 {
				q = new(big.Rat).Neg(q)
			}
			conj[k] = q
		}
		var err error
		if out, err = e.times(out, conj); err != nil {
			return nil, err
		}
		if d, err = e.times(d, conj); err != nil {
			return nil, err
		}
	}
	return nil, errUnknown
}

// somePrime is -1 or a prime that divides the radicand of a term.
func (r radical) somePrime() int64 {
	keys := make([]int64, 0, len(r))
	for k := range r {
		if k != 1 {
			keys = append(keys, k)
		}
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	if keys[0] < 0 {
		return -1
	}
	k := keys[0]
	for p := int64(2); p*p <= k; p++ {
		if k%p == 0 {
			return p
		}
	}
	return k
}

// root is the square root of a rational.
func (e *radicalEval) root(n *node) (radical, error) {
	r, err := e.eval(n)
	if err != nil || len(r) == 0 {
		return r, err
	}
	q := r[1]
	if q == nil || len(r) != 1 {
		return nil, errUnknown
	}
	// √(a/b) = √(ab)/b
	ab := new(big.Int).Mul(q.Num(), q.Denom())
	if !ab.IsInt64() || ab.Int64() > maxRadicand || ab.Int64() < -maxRadicand {
		return nil, errUnknown
	}
	cost := 500 // of the divisions below the cube root
	if n := ab.Int64(); n > 1e9 || n < -1e9 {
		cost = 8000
	}
	if !e.bud.spend(cost) {
		return nil, errBudget
	}
	outside, inside := squarefree(ab.Int64())
	return radical{inside: new(big.Rat).SetFrac(big.NewInt(outside), q.Denom())}, nil
}

// squarefree gives n = outside² · inside. Beyond the cube root of n what is left
// is a prime, a product of two or a square.
func squarefree(n int64) (outside, inside int64) {
	outside, inside = 1, 1
	if n < 0 {
		n, inside = -n, -1
	}
	for p := int64(2); p*p*p <= n; p++ {
		for n%(p*p) == 0 {
			n /= p * p
			outside *= p
		}
		if n%p == 0 {
			n /= p
			inside *= p
		}
	}
	if s := new(big.Int).Sqrt(big.NewInt(n)).Int64(); s*s == n {
		return outside * s, inside
	}
	return outside, inside * n
}

// power takes small whole exponents, and halves of rationals.
func (e *radicalEval) power(n *node) (radical, error) {
	x, err := (&ratEval{bud: e.bud}).eval(n.args[1])
	if err != nil || !x.Num().IsInt64() || !x.Denom().IsInt64() || x.Denom().Int64() > 2 {
		return nil, errUnknown
	}
	k := x.Num().Int64()
	if k > 32 || k < -32 {
		return nil, errUnknown
	}
	var base radical
	if x.IsInt() {
		base, err = e.eval(n.args[0])
	} else {
		base, err = e.root(n.args[0])
	}
	if err == nil && k < 0 {
		base, err = e.inverse(base)
	}
	if err != nil {
		return nil, err
	}
	if k == 0 && len(base) == 0 {
		return nil, errDomain
	}
	out := radical{1: oneRat}
	for range max(k, -k) {
		if out, err = e.times(out, base); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// radicals compares constants that are sums of square roots.
func (c *comparer) radicals(x, y *node) verdict {
	e := &radicalEval{bud: c.bud}
	a, err := e.eval(x)
	if err != nil {
		return unknown
	}
	b, err := e.eval(y)
	if err != nil {
		return unknown
	}
	c.rule = "square roots"
	if len(a) != len(b) {
		return no
	}
	for k, q := range a {
		if b[k] == nil || b[k].Cmp(q) != 0 {
			return no
		}
	}
	return yes
}
