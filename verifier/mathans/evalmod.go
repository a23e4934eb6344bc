package mathans

import (
	"math/big"
	"math/bits"
)

// modEval computes rational expressions modulo a prime p with p = 1 mod 4, where
// -1 has a root, so that Gaussian rationals have images too. What differs
// modulo p is different; what agrees modulo several large primes, or at several
// random points, is equal but for a chance of less than 2^-100.
type modEval struct {
	p    uint64
	bud  *budget
	env  map[string]uint64
	root uint64 // of -1
}

func mulMod(a, b, p uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	_, r := bits.Div64(hi%p, lo, p)
	return r
}

func powMod(a, n, p uint64) uint64 {
	r := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r = mulMod(r, a, p)
		}
		a = mulMod(a, a, p)
	}
	return r
}

func newModEval(p uint64, bud *budget, env map[string]uint64) *modEval {
	e := &modEval{p: p, bud: bud, env: env}
	for a := uint64(2); ; a++ { // a non-residue to the (p-1)/4 is a root of -1
		if r := powMod(a, (p-1)/4, p); mulMod(r, r, p) == p-1 {
			e.root = r
			return e
		}
	}
}

func (e *modEval) fromInt(n *big.Int) uint64 {
	if n.IsInt64() {
		v := n.Int64()
		if v >= 0 {
			return uint64(v) % e.p
		}
		return (e.p - uint64(-v)%e.p) % e.p
	}
	m := new(big.Int).Mod(n, new(big.Int).SetUint64(e.p))
	return m.Uint64()
}

func (e *modEval) div(a, b uint64) (uint64, error) {
	if b == 0 {
		return 0, errDomain
	}
	return mulMod(a, powMod(b, e.p-2, e.p), e.p), nil
}

func (e *modEval) eval(n *node) (uint64, error) {
	if !e.bud.spend(4) {
		return 0, errBudget
	}
	switch n.op {
	case opNum:
		return e.div(e.fromInt(n.rat.Num()), e.fromInt(n.rat.Denom()))
	case opVar:
		if v, ok := e.env[n.name]; ok {
			return v, nil
		}
	case opConst:
		if n.name == "i" {
			return e.root, nil
		}
	case opNeg:
		v, err := e.eval(n.args[0])
		return (e.p - v) % e.p, err
	case opAdd, opMul:
		return e.nary(n)
	case opDiv:
		a, err := e.eval(n.args[0])
		if err != nil {
			return 0, err
		}
		b, err := e.eval(n.args[1])
		if err != nil {
			return 0, err
		}
		if !e.bud.spend(200) {
			return 0, errBudget
		}
		return e.div(a, b)
	case opPercent:
		a, err := e.eval(n.args[0])
		if err != nil {
			return 0, err
		}
		return e.div(a, 100)
	case opPow:
		return e.pow(n)
	case opFunc:
		return e.function(n)
	}
	return 0, errUnknown
}

func (e *modEval) nary(n *node) (uint64, error) {
	r, err := e.eval(n.args[0])
	for _, a := range n.args[1:] {
		if err != nil {
			return 0, err
		}
		var v uint64
		if v, err = e.eval(a); n.op == opMul {
			r = mulMod(r, v, e.p)
		} else {
			r = (r + v) % e.p
		}
	}
	return r, err
}

// pow takes whole constant exponents, of any size.
func (e *modEval) pow(n *node) (uint64, error) {
	base, err := e.eval(n.args[0])
	if err != nil {
		return 0, err
	}
	exact := &ratEval{bud: e.bud}
	x, err := exact.eval(n.args[1])
	var k uint64
	negative := false
	switch {
	case err == errHuge: // a tower: the exponent modulo p-1
		if base == 0 {
			return 0, errUnknown
		}
		if k, err = e.exponent(n.args[1]); err != nil {
			return 0, err
		}
	case err != nil:
		return 0, err
	case !x.IsInt():
		return 0, errUnknown
	case base == 0 && x.Sign() <= 0:
		return 0, errDomain
	case base == 0:
		return 0, nil
	default:
		negative = x.Sign() < 0
		abs := new(big.Int).Abs(x.Num())
		k = abs.Mod(abs, new(big.Int).SetUint64(e.p-1)).Uint64()
	}
	if !e.bud.spend(200) {
		return 0, errBudget
	}
	r := powMod(base, k, e.p)
	if negative {
		return e.div(1, r)
	}
	return r, nil
}

// exponent computes a huge whole exponent modulo p-1. Only sums, products and
// powers of whole numbers are known to be whole.
func (e *modEval) exponent(n *node) (uint64, error) {
	m := e.p - 1
	switch {
	case n.op == opNum && n.rat.IsInt():
		return new(big.Int).Mod(n.rat.Num(), new(big.Int).SetUint64(m)).Uint64(), nil
	case n.op == opAdd || n.op == opMul:
		r, err := e.exponent(n.args[0])
		for _, a := range n.args[1:] {
			var v uint64
			if err == nil {
				v, err = e.exponent(a)
			}
			if n.op == opMul {
				r = mulMod(r, v, m)
			} else {
				r = (r + v) % m
			}
		}
		return r, err
	case n.op == opPow:
		base, err := e.exponent(n.args[0])
		if err != nil {
			return 0, err
		}
		x, err := (&ratEval{bud: e.bud}).eval(n.args[1])
		if err != nil || !x.IsInt() || x.Sign() < 0 || !x.Num().IsUint64() || !e.bud.spend(200) {
			return 0, errUnknown
		}
		return powMod(base, x.Num().Uint64(), m), nil
	}
	return 0, errUnknown
}

func (e *modEval) function(n *node) (uint64, error) {
	exact := &ratEval{bud: e.bud}
	switch n.name {
	case "conj":
		if n.args[0].any(func(m *node) bool { return m.op == opConst || m.op == opVar }) {
			return 0, errUnknown
		}
		return e.eval(n.args[0])
	case "factorial":
		x, err := exact.eval(n.args[0])
		if err != nil {
			return 0, err
		}
		k, err := smallInt(x, 50_000)
		if err != nil || !e.bud.spend(int(k)) {
			return 0, errHuge
		}
		r := uint64(1)
		for i := uint64(2); i <= uint64(k); i++ {
			r = mulMod(r, i, e.p)
		}
		return r, nil
	case "binom":
		k, err := exact.eval(n.args[1])
		if err != nil {
			return 0, err
		}
		j, err := smallInt(k, 2000)
		if err != nil {
			return 0, err
		}
		return e.falling(n.args[0], uint64(j))
	}
	x, err := exact.eval(n)
	if err != nil {
		return 0, err
	}
	return e.div(e.fromInt(x.Num()), e.fromInt(x.Denom()))
}

// falling is the binomial coefficient n over j as n(n-1)… over j!.
func (e *modEval) falling(n *node, j uint64) (uint64, error) {
	x, err := e.eval(n)
	if err != nil {
		return 0, err
	}
	if !e.bud.spend(int(j) * 3) {
		return 0, errBudget
	}
	a, b := uint64(1), uint64(1)
	for i := range j {
		a = mulMod(a, (x+e.p-i)%e.p, e.p)
		b = mulMod(b, i+1, e.p)
	}
	return e.div(a, b)
}
