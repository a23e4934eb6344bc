package kernels

import "math"

// fma returns a*b + c rounded once to float32.
//
// Portable Go has no such operation. The product of two float32 is exact in
// float64, so only the sum rounds; float32(sum) would then round a second time,
// and the second rounding goes wrong exactly when the first one landed on the
// middle between two float32 values. In that case the error of the sum decides.
func fma(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	u := math.Float64bits(s)
	if u&(1<<29-1) != 1<<28 && u>>52&0x7ff >= 897 { // not a middle, not a float32 denormal
		return float32(s)
	}
	return float32(roundToOdd(p, float64(c), s))
}

// roundToOdd returns the sum p+c, whose rounded value is s, rounded to odd: a
// result that isn't exact gets a last bit of 1, so that rounding it again to a
// shorter format goes the right way.
func roundToOdd(p, c, s float64) float64 {
	if math.IsInf(s, 0) || s != s {
		return s
	}
	t := s - p
	e := (p - (s - t)) + (c - t) // exact error of the sum
	u := math.Float64bits(s)
	if e == 0 || u&1 == 1 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// Constants of exp: 2^n · P(r) with n = round(x·log2 e), r = x - n·ln 2 taken off
// in two parts, |r| <= ln 2 / 2, and the polynomial of degree 7 of the Cephes library.
const (
	expMax  = 88.72283   // above it the result is +Inf
	expMin  = -87.336544 // below it the result is 0 (ln of the smallest normal)
	log2e   = 1.44269504
	ln2High = 0.693359375
	ln2Low  = -2.12194440e-4
	expC7   = 1.9875691500e-4
	expC6   = 1.3981999507e-3
	expC5   = 8.3334519073e-3
	expC4   = 4.1665795894e-2
	expC3   = 1.6666665459e-1
	expC2   = 5.0000001201e-1
)

// Exp returns e**x by the one polynomial that all kernels use. The relative
// error is below 1.5e-7; results under the smallest normal number are 0.
func Exp(x float32) float32 {
	switch {
	case x != x:
		return x
	case x > expMax:
		return float32(math.Inf(1))
	case x < expMin:
		return 0
	}
	n := float32(math.RoundToEven(float64(float32(x * log2e))))
	r := fma(n, -ln2High, x)
	r = fma(n, -ln2Low, r)
	p := fma(expC7, r, expC6)
	p = fma(p, r, expC5)
	p = fma(p, r, expC4)
	p = fma(p, r, expC3)
	p = fma(p, r, expC2)
	p = fma(p, r, 1)
	p = fma(p, r, 1)
	i := int32(n)
	half := i >> 1
	return float32(p*pow2(half)) * pow2(i-half)
}

// pow2 returns 2**i for a normal result.
func pow2(i int32) float32 { return math.Float32frombits(uint32(i+127) << 23) }

// Log returns the natural logarithm of a positive finite x, the same bits on
// every machine: it is computed in float64 without fused operations, unlike
// math.Log, whose assembly and fusion differ between architectures.
func Log(x float32) float32 {
	f, e := math.Frexp(float64(x))
	if f < math.Sqrt2/2 {
		f *= 2
		e--
	}
	s := (f - 1) / (f + 1) // ln f = 2 atanh s, |s| < 0.1716
	z := float64(s * s)
	t := 1.0 / 21
	for _, c := range [...]float64{1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1} {
		t = float64(t*z) + c
	}
	return float32(float64(float64(2*s)*t) + float64(float64(e)*math.Ln2))
}

// foldLanes adds sixteen lane sums: l+8, then l+4, l+2, l+1.
func foldLanes(s *[16]float32) float32 {
	for w := 8; w >= 1; w >>= 1 {
		for l := range w {
			s[l] += s[l+w]
		}
	}
	return s[0]
}

// BF16 rounds x to bfloat16, nearest even; a NaN stays a NaN.
func BF16(x float32) uint16 {
	u := math.Float32bits(x)
	if x != x {
		return uint16(u>>16) | 0x40
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// FromBF16 widens a bfloat16.
func FromBF16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// WidenBF16 sets dst[i] to src[i] widened.
func WidenBF16(dst []float32, src []uint16) {
	for i, h := range src {
		dst[i] = FromBF16(h)
	}
}
