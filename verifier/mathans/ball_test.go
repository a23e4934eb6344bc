package mathans

import (
	"bufio"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// testdata/constants.tsv has values to 350 digits: every ball must hold them,
// and be narrow.
func TestBallsHoldTheirNumbers(t *testing.T) {
	f, err := os.Open("testdata/constants.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		c := strings.Split(sc.Text(), "\t")
		if strings.HasPrefix(c[0], "#") {
			continue
		}
		n, err := parse(c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		for _, prec := range precisions {
			e := &ballEval{prec: prec, bud: &budget{left: 1 << 30}}
			v, err := e.eval(n)
			if err != nil {
				t.Errorf("%s at %d bits: %v", c[0], prec, err)
				continue
			}
			checkBall(t, c[0], prec, v.re, c[1])
			checkBall(t, c[0], prec, v.im, c[2])
		}
	}
}

// checkBall checks that the ball holds a number given to 350 digits.
func checkBall(t *testing.T, name string, prec uint, b ball, digits string) {
	t.Helper()
	x, _, err := big.ParseFloat(digits, 10, 1400, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	d := new(big.Float).SetPrec(1400).Sub(x, b.m)
	d.Abs(d)
	slack := new(big.Float).SetMantExp(new(big.Float).Abs(x), -1150) // the digits' own error
	if allowed := new(big.Float).SetPrec(1400).Add(b.r.float(), slack); d.Cmp(allowed) > 0 {
		t.Errorf("%s at %d bits: off by %.3g, radius %.3g", name, prec, d, b.r.float())
	}
	if prec > 64 && x.Sign() != 0 && b.r.exp() > x.MantExp(nil)-int(prec)/2 {
		t.Errorf("%s at %d bits: radius 2^%d for a number of 2^%d", name, prec, b.r.exp(), x.MantExp(nil))
	}
}

// Random rational arithmetic: every ball holds the exact value.
func TestBallArithmeticHoldsRationals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		exactly := big.NewRat(rng.Int64N(1000)-500, rng.Int64N(1000)+1)
		b := fromRat(exactly, 64)
		for range 12 {
			q := big.NewRat(rng.Int64N(2000)-1000, rng.Int64N(500)+1)
			p := fromRat(q, 64)
			switch rng.IntN(4) {
			case 0:
				exactly, b = new(big.Rat).Add(exactly, q), b.add(p, 64)
			case 1:
				exactly, b = new(big.Rat).Sub(exactly, q), b.sub(p, 64)
			case 2:
				exactly, b = new(big.Rat).Mul(exactly, q), b.mul(p, 64)
			case 3:
				r, err := b.quo(p, 64)
				if err != nil {
					continue
				}
				exactly, b = new(big.Rat).Quo(exactly, q), r
			}
			x := new(big.Float).SetPrec(400).SetRat(exactly)
			d := x.Sub(x, b.m)
			if d.Abs(d).Cmp(new(big.Float).SetPrec(400).Add(b.r.float(), big.NewFloat(1e-90))) > 0 {
				t.Fatalf("%v is not in the ball %v ± %v", exactly, b.m, b.r.float())
			}
		}
	}
}

func TestMagRoundsUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	random := func() mag { return mag{rng.Uint64N(1 << 32), rng.IntN(200) - 100} }
	for range 10000 {
		a, b := random(), random()
		sum := new(big.Float).SetPrec(500).Add(a.float(), b.float())
		if got := a.add(b).float(); got.Cmp(sum) < 0 {
			t.Fatalf("%v + %v = %v, less than %v", a, b, got, sum)
		}
		product := new(big.Float).SetPrec(500).Mul(a.float(), b.float())
		if got := a.mul(b).float(); got.Cmp(product) < 0 {
			t.Fatalf("%v * %v = %v, less than %v", a, b, got, product)
		}
	}
}

// The four engines agree: a rational function modulo a prime is the image of
// its exact value, and its ball holds it.
func TestEvaluatorsAgree(t *testing.T) {
	for _, s := range []string{"1/3+2/7", "(2/3)^{20}-5", "3^{-7}", `\binom{20}{7}/7!`, "-(5/2)^3", `\frac{1}{1+\frac{1}{2}}`, "25\\%", `\sum_{k=1}^{20}\frac1k`} {
		n, err := parse(s)
		if err != nil {
			t.Fatal(err)
		}
		bud := &budget{left: 1 << 30}
		q, err := (&ratEval{bud: bud}).eval(n)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		v, err := (&ballEval{prec: 320, bud: bud}).eval(n)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if d := v.add(realOf(fromRat(q, 320)).neg(), 320); !d.re.hasZero() {
			t.Errorf("%s: ball %v does not hold %v", s, v.re.m, q)
		}
		m := newModEval(fixedPrimes[0], bud, nil)
		got, err := m.eval(n)
		if err != nil {
			continue // sums are left to the exact evaluator
		}
		want, err := m.div(m.fromInt(q.Num()), m.fromInt(q.Denom()))
		if err != nil || got != want {
			t.Errorf("%s: %d modulo p, want %d", s, got, want)
		}
	}
}

// What the field of square roots decides, balls must not contradict.
func TestRadicalsAgreeWithBalls(t *testing.T) {
	for _, s := range []string{`\sqrt{12}`, `2\sqrt3-\sqrt{27}`, `\frac{1}{\sqrt2+\sqrt3}`, `\frac{1+i}{1-i}`, `(1+\sqrt2)^{7}`, `(\sqrt5-2)^{-3}`,
		`\sqrt{\frac{2}{3}}`, `\sqrt{-4}\sqrt{-9}`, `\frac{\sqrt{6}-\sqrt{2}}{4}`, `\frac{1}{1+\sqrt2+\sqrt3+\sqrt5}`, `2^{-\frac12}`, `\sqrt{999983}`,
		`\sqrt{999999999989}`, `\frac{3+i\sqrt3}{2-i}`, `\sqrt{50}\%`} {
		n, err := parse(s)
		if err != nil {
			t.Fatal(err)
		}
		bud := &budget{left: 1 << 30}
		r, err := (&radicalEval{bud: bud}).eval(n)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		sum := realOf(fromInt(0, 320))
		for k, q := range r {
			root, err := realOf(fromInt(k, 320)).sqrt(320)
			if err != nil {
				t.Fatal(err)
			}
			sum = sum.add(root.mul(realOf(fromRat(q, 320)), 320), 320)
		}
		v, err := (&ballEval{prec: 320, bud: bud}).eval(n)
		if err != nil {
			t.Fatal(err)
		}
		if d := v.add(sum.neg(), 320); !d.re.hasZero() || !d.im.hasZero() {
			t.Errorf("%s: %v is not its value", s, r)
		}
	}
	for n, want := range map[int64][2]int64{1: {1, 1}, 12: {2, 3}, -50: {5, -2}, 999983 * 999983: {999983, 1}, 720: {12, 5}, 49: {7, 1}} {
		if o, i := squarefree(n); o != want[0] || i != want[1] {
			t.Errorf("squarefree(%d) = %d, %d, want %v", n, o, i, want)
		}
	}
}
