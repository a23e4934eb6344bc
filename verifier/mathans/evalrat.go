package mathans

import "math/big"

// maxBits bounds the numbers that are written out; larger powers are compared
// modulo primes or by their logarithms.
const maxBits = 1 << 16

// ratEval computes expressions over the rationals exactly.
type ratEval struct {
	bud *budget
	env map[string]*big.Rat
}

func ratBits(r *big.Rat) int { return r.Num().BitLen() + r.Denom().BitLen() }

func (e *ratEval) check(r *big.Rat) (*big.Rat, error) {
	n := ratBits(r)
	// A fraction is reduced by its gcd, which takes the product of the lengths.
	if !e.bud.spend(32 + n/8 + (r.Num().BitLen()+1)*(r.Denom().BitLen()-1)/5000) {
		return nil, errBudget
	}
	if n > maxBits {
		return nil, errHuge
	}
	return r, nil
}

// eval gives the value, errHuge where it would be too long to write out,
// errDomain where it is not defined, and errUnknown where it is not rational or
// not known to be.
func (e *ratEval) eval(n *node) (*big.Rat, error) {
	switch n.op {
	case opNum:
		return n.rat, nil
	case opVar:
		if r := e.env[n.name]; r != nil {
			return r, nil
		}
		return nil, errUnknown
	case opSum:
		return e.sum(n)
	case opAdd, opMul, opNeg, opDiv, opPow, opPercent, opFunc, opDegree:
	default:
		return nil, errUnknown
	}
	var few [4]*big.Rat
	v := few[:0]
	for _, a := range n.args {
		r, err := e.eval(a)
		if err != nil {
			return nil, err
		}
		v = append(v, r)
	}
	return e.apply(n, v)
}

func (e *ratEval) apply(n *node, v []*big.Rat) (*big.Rat, error) {
	switch n.op {
	case opAdd, opMul:
		r := new(big.Rat).Set(v[0])
		for _, x := range v[1:] {
			if n.op == opAdd {
				r.Add(r, x)
			} else {
				r.Mul(r, x)
			}
			if _, err := e.check(r); err != nil {
				return nil, err
			}
		}
		return r, nil
	case opNeg:
		return new(big.Rat).Neg(v[0]), nil
	case opDegree:
		return v[0], nil
	case opPercent:
		return e.check(new(big.Rat).Quo(v[0], big.NewRat(100, 1)))
	case opDiv:
		if v[1].Sign() == 0 {
			return nil, errDomain
		}
		return e.check(new(big.Rat).Quo(v[0], v[1]))
	case opPow:
		return e.pow(v[0], v[1])
	}
	return e.function(n.name, v)
}

// pow is x to the y, for a whole y, or one whose root is rational.
func (e *ratEval) pow(x, y *big.Rat) (*big.Rat, error) {
	if !y.IsInt() {
		if !y.Denom().IsInt64() || y.Denom().Int64() > 64 {
			return nil, errUnknown
		}
		root, err := e.root(x, y.Denom().Int64())
		if err != nil {
			return nil, err
		}
		return e.pow(root, new(big.Rat).SetInt(y.Num()))
	}
	if x.Sign() == 0 {
		if y.Sign() <= 0 {
			return nil, errDomain
		}
		return new(big.Rat), nil
	}
	n := y.Num()
	if x.IsInt() && x.Num().IsInt64() && (x.Num().Int64() == 1 || x.Num().Int64() == -1) {
		if x.Sign() < 0 && n.Bit(0) == 0 {
			return big.NewRat(1, 1), nil
		}
		return x, nil
	}
	abs := new(big.Int).Abs(n)
	if !abs.IsInt64() || abs.Int64() > maxBits || abs.Int64()*int64(ratBits(x)-1) > 2*maxBits {
		return nil, errHuge
	}
	if !e.bud.spend(int(abs.Int64()) * ratBits(x) / 8) {
		return nil, errBudget
	}
	r := new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), abs, nil), new(big.Int).Exp(x.Denom(), abs, nil))
	if n.Sign() < 0 {
		r.Inv(r)
	}
	return e.check(r)
}

// root is the n-th root where it is rational.
func (e *ratEval) root(x *big.Rat, n int64) (*big.Rat, error) {
	if n < 1 || x.Sign() < 0 && n%2 == 0 || ratBits(x) > 4096 {
		return nil, errUnknown
	}
	a, ok1 := intRoot(x.Num(), n)
	b, ok2 := intRoot(x.Denom(), n)
	if !e.bud.spend(200 + ratBits(x)*int(n)) {
		return nil, errBudget
	}
	if !ok1 || !ok2 {
		return nil, errUnknown
	}
	return new(big.Rat).SetFrac(a, b), nil
}

// intRoot finds an exact n-th root by bisection on its bits.
func intRoot(x *big.Int, n int64) (*big.Int, bool) {
	if n == 1 || x.Sign() == 0 {
		return x, true
	}
	abs := new(big.Int).Abs(x)
	r := new(big.Int)
	if n == 2 {
		r.Sqrt(abs)
	} else {
		e, t := big.NewInt(n), new(big.Int)
		for bit := abs.BitLen() / int(n); bit >= 0; bit-- {
			r.SetBit(r, bit, 1)
			if t.Exp(r, e, nil).Cmp(abs) > 0 {
				r.SetBit(r, bit, 0)
			}
		}
	}
	if new(big.Int).Exp(r, big.NewInt(n), nil).Cmp(abs) != 0 {
		return nil, false
	}
	if x.Sign() < 0 {
		r.Neg(r)
	}
	return r, true
}

// function computes the functions that keep rationals rational.
func (e *ratEval) function(name string, v []*big.Rat) (*big.Rat, error) {
	if len(v) == 0 {
		return nil, errUnknown
	}
	switch name {
	case "abs":
		return new(big.Rat).Abs(v[0]), nil
	case "floor":
		return floorRat(v[0]), nil
	case "ceil":
		r := floorRat(new(big.Rat).Neg(v[0]))
		return r.Neg(r), nil
	case "conj", "Re":
		return v[0], nil
	case "sgn":
		return big.NewRat(int64(v[0].Sign()), 1), nil
	case "root":
		if !v[1].IsInt() || !v[1].Num().IsInt64() || v[1].Num().Int64() > 64 {
			return nil, errUnknown
		}
		return e.root(v[0], v[1].Num().Int64())
	case "max", "min":
		r := v[0]
		for _, x := range v[1:] {
			if c := x.Cmp(r); c > 0 == (name == "max") && c != 0 {
				r = x
			}
		}
		return r, nil
	case "gcd", "lcm":
		return e.gcd(name, v)
	case "factorial":
		return e.factorial(v[0])
	case "binom":
		if len(v) == 2 {
			return e.binomial(v[0], v[1])
		}
	}
	return nil, errUnknown
}

func floorRat(x *big.Rat) *big.Rat {
	q := new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: the denominator is positive
	return new(big.Rat).SetInt(q)
}

func (e *ratEval) gcd(name string, v []*big.Rat) (*big.Rat, error) {
	r := new(big.Int)
	for i, x := range v {
		if !x.IsInt() || !e.bud.spend(20+ratBits(x)) {
			return nil, errUnknown
		}
		abs := new(big.Int).Abs(x.Num())
		if i == 0 {
			r.Set(abs)
			continue
		}
		g := new(big.Int).GCD(nil, nil, r, abs)
		if name == "gcd" || g.Sign() == 0 {
			r = g
		} else {
			r.Mul(r, abs.Quo(abs, g))
		}
		if r.BitLen() > maxBits {
			return nil, errHuge
		}
	}
	return new(big.Rat).SetInt(r), nil
}

// smallInt gives a whole number from 0 to limit.
func smallInt(x *big.Rat, limit int64) (int64, error) {
	switch {
	case !x.IsInt() || x.Sign() < 0:
		return 0, errDomain
	case !x.Num().IsInt64() || x.Num().Int64() > limit:
		return 0, errHuge
	}
	return x.Num().Int64(), nil
}

func (e *ratEval) factorial(x *big.Rat) (*big.Rat, error) {
	n, err := smallInt(x, 5000) // 5000! has 54,000 bits
	if err != nil {
		return nil, err
	}
	if !e.bud.spend(int(n) * (8 + int(n)/20)) {
		return nil, errBudget
	}
	return new(big.Rat).SetInt(new(big.Int).MulRange(1, max(n, 1))), nil
}

// binomial is n over k for whole k, as a falling factorial.
func (e *ratEval) binomial(n, k *big.Rat) (*big.Rat, error) {
	j, err := smallInt(k, 20000)
	if err != nil {
		return nil, err
	}
	if n.IsInt() && n.Sign() >= 0 && n.Num().IsInt64() {
		m := n.Num().Int64()
		if j = min(j, m-j); j < 0 {
			return new(big.Rat), nil
		}
	}
	r := big.NewRat(1, 1)
	for i := int64(0); i < j; i++ {
		f := new(big.Rat).Sub(n, big.NewRat(i, 1))
		r.Mul(r, f.Quo(f, big.NewRat(i+1, 1)))
		if _, err := e.check(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// maxTerms bounds a sum or product that is written with an index.
const maxTerms = 5000

// bounds gives the range of a sum's index.
func (e *ratEval) bounds(n *node) (from, to int64, err error) {
	lo, err := e.eval(n.args[1])
	if err != nil {
		return 0, 0, err
	}
	hi, err := e.eval(n.args[2])
	if err != nil {
		return 0, 0, err
	}
	if !lo.IsInt() || !hi.IsInt() || !lo.Num().IsInt64() || !hi.Num().IsInt64() {
		return 0, 0, errDomain
	}
	from, to = lo.Num().Int64(), hi.Num().Int64()
	if d := to - from; d > maxTerms || d < -maxTerms {
		return 0, 0, errHuge
	}
	return from, to, nil
}

func (e *ratEval) sum(n *node) (*big.Rat, error) {
	from, to, err := e.bounds(n)
	if err != nil {
		return nil, err
	}
	inner := &ratEval{bud: e.bud, env: map[string]*big.Rat{}}
	for k, v := range e.env {
		inner.env[k] = v
	}
	r := new(big.Rat)
	if n.name == "prod" {
		r.SetInt64(1)
	}
	for i := from; i <= to; i++ {
		if !e.bud.spend(80) {
			return nil, errBudget
		}
		inner.env[n.args[0].name] = big.NewRat(i, 1)
		x, err := inner.eval(n.args[3])
		if err != nil {
			return nil, err
		}
		if n.name == "prod" {
			r.Mul(r, x)
		} else {
			r.Add(r, x)
		}
		if _, err := e.check(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}
