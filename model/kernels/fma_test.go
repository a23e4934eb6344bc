package kernels

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestFMARoundsOnce(t *testing.T) {
	// Both obvious ways round twice and give 1.
	a, b := float32(16519105*math.Pow(2, -36)), float32(130*math.Pow(2, -19))
	if got := fma(a, b, 1); got != 1.0000001 {
		t.Errorf("fma = %v, want 1.0000001", got)
	}
}

func TestFMAAgainstBigFloat(t *testing.T) {
	arithmeticOnly(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		a, b, c := someFloat(r), someFloat(r), someFloat(r)
		if r.IntN(3) == 0 { // near cancellation and near middles
			c = -float32(a*b) * (1 + float32(r.IntN(3)-1)/(1<<23))
		}
		x := new(big.Float).SetPrec(400).SetFloat64(float64(a))
		x.Mul(x, new(big.Float).SetPrec(400).SetFloat64(float64(b)))
		x.Add(x, new(big.Float).SetPrec(400).SetFloat64(float64(c)))
		want, _ := x.Float32()
		if got := fma(a, b, c); got != want {
			t.Fatalf("fma(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
	}
}

func someFloat(r *rand.Rand) float32 {
	e := r.IntN(60) - 30
	if r.IntN(8) == 0 {
		e = r.IntN(4) - 127
	}
	m := r.Uint32() & (1<<23 - 1)
	if r.IntN(2) == 0 {
		m &= 0x7ff000 // few bits: sums fall on middles
	}
	return math.Float32frombits(r.Uint32()&(1<<31) | uint32(e+127)&0xff<<23 | m)
}

func TestExpAndLog(t *testing.T) {
	for x := float32(-87.3); x < 88.7; x += 0.00713 {
		want := math.Exp(float64(x))
		if rel := math.Abs(float64(Exp(x))-want) / want; rel > 1.6e-7 {
			t.Fatalf("Exp(%v): relative error %.2g", x, rel)
		}
	}
	for _, c := range []struct{ x, want float32 }{{0, 1}, {-100, 0}, {float32(math.Inf(-1)), 0}, {100, float32(math.Inf(1))}} {
		if got := Exp(c.x); got != c.want {
			t.Errorf("Exp(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	if nan := Exp(float32(math.NaN())); nan == nan {
		t.Error("Exp(NaN) is not a NaN")
	}
	for x := float32(1e-30); x < 1e30; x *= 1.0371 {
		if got, want := Log(x), float32(math.Log(float64(x))); got != want {
			t.Errorf("Log(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestBF16RoundsToEven(t *testing.T) {
	for _, c := range []struct {
		in   uint32
		want uint16
	}{{0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81}, {0x7f7fffff, 0x7f80}, {0xff800001, 0xffc0}} {
		if got := BF16(math.Float32frombits(c.in)); got != c.want {
			t.Errorf("BF16(%#x) = %#x, want %#x", c.in, got, c.want)
		}
	}
}
