package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func headProblem(v, k, rows int) (h Head, w, x []float32, targets []int32) {
	r := rand.New(rand.NewPCG(uint64(v), uint64(k)))
	w, x = normal(r, v*k), normal(r, rows*k)
	targets = make([]int32, rows)
	for i := range targets {
		targets[i] = int32(r.IntN(v))
	}
	return Head{W: PackF32(w, v, k), Temperature: 0.7}, w, x, targets
}

// headReference is the loss Σ g·logp + e·entropy in float64.
func headReference(w, x []float32, v, k int, targets []int32, temperature float64, g, e []float32) (loss float64, logp, entropy []float64) {
	for r, tg := range targets {
		z := make([]float64, v)
		sum := 0.0
		for c := range z {
			for i := range k {
				z[c] += float64(x[r*k+i]) * float64(w[c*k+i]) / temperature
			}
			sum += math.Exp(z[c])
		}
		ent := 0.0
		for c := range z {
			lp := z[c] - math.Log(sum)
			ent -= math.Exp(lp) * lp
		}
		logp, entropy = append(logp, z[tg]-math.Log(sum)), append(entropy, ent)
		loss += float64(g[r])*logp[r] + float64(e[r])*ent
	}
	return loss, logp, entropy
}

func TestHeadForwardAndBackward(t *testing.T) {
	for _, v := range []int{77, 1024} { // rows of logits close together, and a line apart
		t.Run(fmt.Sprint(v), func(t *testing.T) { headForwardAndBackward(t, v) })
	}
}

func headForwardAndBackward(t *testing.T, v int) {
	pool := NewPool(2)
	defer pool.Close()
	var first []float32
	each(t, func(t *testing.T) {
		const k, rows = 20, 23
		h, w, x, targets := headProblem(v, k, rows)
		r := rand.New(rand.NewPCG(8, 8))
		g, e := normal(r, rows), normal(r, rows)
		bounds := []int{0, 3, 4, 17, 23}
		_, wantLogp, wantEntropy := headReference(w, x, v, k, targets, 0.7, g, e)
		var base []float32
		row := 4 * h.Stride()
		for _, budget := range [][2]int{{1, 0}, {1, row * 7}, {row * 5, 0}, {row * 3, row * 3}, {row * 5, row * 9}, {1 << 20, 0}} {
			h.Bytes, h.KeptBytes = budget[0], budget[1]
			var scratch Scratch
			logp, entropy := make([]float32, rows), make([]float32, rows)
			dx, dw := make([]float32, rows*k), make([]float32, v*k)
			calls := 0
			h.Backward(pool, dx, k, dw, logp, entropy, x, k, bounds, targets, func(seq int, lp, en []float32) (_, _ []float32) {
				if seq != calls || len(lp) != bounds[seq+1]-bounds[seq] || len(en) != len(lp) {
					t.Errorf("call %d: sequence %d with %d rows", calls, seq, len(lp))
				}
				calls++
				return g[bounds[seq]:bounds[seq+1]], e[bounds[seq]:bounds[seq+1]]
			}, &scratch)
			for i := range rows {
				if math.Abs(float64(logp[i])-wantLogp[i]) > 1e-5 || math.Abs(float64(entropy[i])-wantEntropy[i]) > 1e-5 {
					t.Fatalf("row %d: %v %v, want %v %v", i, logp[i], entropy[i], wantLogp[i], wantEntropy[i])
				}
			}
			all := append(append(append(append([]float32(nil), logp...), entropy...), dx...), dw...)
			if base == nil {
				base = all
			}
			sameBits(t, fmt.Sprintf("budget %d", budget), all, base)
			for range 15 {
				i, j := r.IntN(len(x)), r.IntN(len(w))
				headSlope(t, "dx", x, dx, i, func() float64 { l, _, _ := headReference(w, x, v, k, targets, 0.7, g, e); return l })
				headSlope(t, "dw", w, dw, j, func() float64 { l, _, _ := headReference(w, x, v, k, targets, 0.7, g, e); return l })
			}
			again := make([]float32, rows)
			h.LogProbs(nil, again, nil, x, k, rows, targets, &scratch)
			sameBits(t, "LogProbs", again, logp)
			z := make([]float32, v)
			for i := range rows { // as the sampler does, one row at a time
				h.Logits(nil, z, x[i*k:], k, 1)
				if got := h.TokenLogProb(z, h.Stats(z), targets[i]); got != logp[i] {
					t.Fatalf("row %d: sampler %v, trainer %v", i, got, logp[i])
				}
			}
		}
		if first == nil {
			first = base
		}
		sameBits(t, "families", base, first)
	})
}

func headSlope(t *testing.T, what string, x, dx []float32, i int, loss func() float64) {
	t.Helper()
	const h = 1.0 / 512
	old := x[i]
	x[i] = old + h
	up := loss()
	x[i] = old - h
	want := (up - loss()) / (2 * h)
	x[i] = old
	if math.Abs(want-float64(dx[i])) > 3e-4*(1+math.Abs(want)) {
		t.Errorf("%s[%d] = %v, difference %v", what, i, dx[i], want)
	}
}

func TestRMSNormAgainstDifferences(t *testing.T) {
	each(t, func(t *testing.T) {
		const rows, n, eps = 5, 50, 1e-3
		r := rand.New(rand.NewPCG(1, 1))
		x, w, dy := normal(r, rows*n), normal(r, n), normal(r, rows*n)
		loss := func() (l float64) {
			for i := range rows {
				s := 0.0
				for _, v := range x[i*n:][:n] {
					s += float64(v) * float64(v)
				}
				for j, v := range x[i*n:][:n] {
					l += float64(v) / math.Sqrt(s/n+eps) * float64(w[j]) * float64(dy[i*n+j])
				}
			}
			return l
		}
		y, inv := make([]float32, rows*n), make([]float32, rows)
		dx, dw := make([]float32, rows*n), make([]float32, n)
		Default().RMSNorm(y, n, x, n, rows, n, w, eps, inv)
		Default().RMSNormBackward(dx, n, dw, dy, n, x, n, rows, n, w, inv)
		sum := 0.0
		for i := range y {
			sum += float64(y[i]) * float64(dy[i])
		}
		if math.Abs(sum-loss()) > 1e-4 {
			t.Errorf("forward %v, want %v", sum, loss())
		}
		for i := range dx {
			headSlope(t, "dx", x, dx, i, loss)
		}
		for i := range dw {
			headSlope(t, "dw", w, dw, i, loss)
		}
	})
}

func TestGateAndRotationAgainstDifferences(t *testing.T) {
	each(t, func(t *testing.T) {
		const n = 37
		r := rand.New(rand.NewPCG(2, 1))
		g, u, dy := normal(r, n), normal(r, n), normal(r, n)
		gate := func() (l float64) {
			for i := range n {
				l += float64(g[i]) / (1 + math.Exp(-float64(g[i]))) * float64(u[i]) * float64(dy[i])
			}
			return l
		}
		dg, du := make([]float32, n), make([]float32, n)
		Default().SiLUGateBackward(dg, n, du, n, dy, n, g, n, u, n, 1, n)
		for i := range n {
			headSlope(t, "dg", g, dg, i, gate)
			headSlope(t, "du", u, du, i, gate)
		}
		x := normal(r, 3*40)
		y := append([]float32(nil), x...)
		cos, sin := make([]float32, 8*5), make([]float32, 8*5)
		for i := range cos {
			a := float64(i/5) * math.Pow(100, -float64(i%5)/5)
			cos[i], sin[i] = float32(math.Cos(a)), float32(math.Sin(a))
		}
		pos := []int32{7, 0, 3}
		Default().RoPE(y, 40, 3, 4, 10, pos, cos, sin)
		if want := x[0]*cos[35] - x[5]*sin[35]; math.Abs(float64(y[0]-want)) > 1e-6 {
			t.Errorf("rotated %v, want %v", y[0], want)
		}
		sameBits(t, "position 0", y[40:80], x[40:80])
		Default().RoPEBackward(y, 40, 3, 4, 10, pos, cos, sin)
		for i := range x {
			if math.Abs(float64(x[i]-y[i])) > 1e-6 {
				t.Errorf("rotation and its inverse: %v, want %v", y[i], x[i])
			}
		}
	})
}

func TestAdamWAgainstFloat64(t *testing.T) {
	p, m, v := []float32{1, -2, 0.5}, make([]float32, 3), make([]float32, 3)
	want := []float64{1, -2, 0.5}
	wm, wv := make([]float64, 3), make([]float64, 3)
	const rate, decay = 1e-2, 0.1
	r := rand.New(rand.NewPCG(7, 7))
	for step := 1; step <= 50; step++ {
		g := normal(r, 3)
		Default().AdamW(p, g, m, v, AdamW{
			Decay: 1 - rate*decay, Rate: float32(rate / (1 - math.Pow(0.9, float64(step)))), Root: float32(math.Sqrt(1 - math.Pow(0.99, float64(step)))),
			B1: 0.9, C1: 0.1, B2: 0.99, C2: 0.01, Eps: 1e-8})
		for i := range want {
			d := float64(g[i])
			wm[i] = 0.9*wm[i] + 0.1*d
			wv[i] = 0.99*wv[i] + 0.01*d*d
			want[i] *= 1 - rate*decay
			want[i] -= rate * wm[i] / (1 - math.Pow(0.9, float64(step))) / (math.Sqrt(wv[i]/(1-math.Pow(0.99, float64(step)))) + 1e-8)
			if math.Abs(want[i]-float64(p[i])) > 2e-6 {
				t.Fatalf("step %d: %v, want %v", step, p[i], want[i])
			}
		}
	}
}
