package optim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"troupe/model/kernels"
)

// stepDigest is the hash of parameters and moments after the steps below. Every
// published run was made with these bits.
const stepDigest = "d984f0b32718d9e9"

// TestStepsHaveTheBitsOfPublishedRuns takes steps on tensors of uneven lengths,
// clipped ones among them, with every family of kernels.
func TestStepsHaveTheBitsOfPublishedRuns(t *testing.T) {
	for _, family := range kernels.Implementations() {
		restore, err := kernels.Use(family)
		if err != nil {
			t.Fatal(err)
		}
		if got := digestOfSteps(); got != stepDigest {
			t.Errorf("%s: digest %s, want %s", family, got, stepDigest)
		}
		restore()
	}
}

func digestOfSteps() string {
	seed := uint32(1)
	next := func() float32 { // in [-1, 1), without any rounding
		seed = seed*1664525 + 1013904223
		return float32(int32(seed)>>8) / (1 << 23)
	}
	var params, grads [][]float32
	for _, n := range []int{1, 15, 16, 17, 1000, 70_001} {
		p := make([]float32, n)
		for i := range p {
			p[i] = next()
		}
		params, grads = append(params, p), append(grads, make([]float32, n))
	}
	a, state := Paper(), NewState(params)
	for step := range 5 {
		for _, g := range grads {
			for i := range g {
				g[i] = next() * next() / float32(int(1)<<(4*step))
			}
		}
		Clip(grads, Norm(grads), 1)
		a.Apply(params, grads, state, 1e-3)
	}
	h := sha256.New()
	for _, tensors := range [][][]float32{params, state.M, state.V} {
		for _, x := range tensors {
			for _, v := range x {
				var b [4]byte
				binary.LittleEndian.PutUint32(b[:], math.Float32bits(v))
				h.Write(b[:])
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// TestAStepIsTheRuleInFloat32 compares a step that workers and vector kernels
// share with the rule written out, every operation rounded for itself.
func TestAStepIsTheRuleInFloat32(t *testing.T) {
	params := [][]float32{make([]float32, 3), make([]float32, 1_300_005)}
	grads := [][]float32{{1, -2, 0}, make([]float32, len(params[1]))}
	for i := range params[1] {
		params[1][i], grads[1][i] = float32(i%97)*0.01, float32(i%31-15)*1e-3
	}
	a, state := Paper(), NewState(params)
	p, m, v := copied(params), copied(state.M), copied(state.V)
	for step := 1; step <= 2; step++ {
		a.Apply(params, grads, state, 1e-3)
		rate := float32(1e-3 / (1 - math.Pow(0.9, float64(step))))
		root := float32(math.Sqrt(1 - math.Pow(0.999, float64(step))))
		for i := range p {
			for j, g := range grads[i] {
				m[i][j] = float32(float32(0.9)*m[i][j]) + float32(float32(1-0.9)*g)
				v[i][j] = float32(float32(0.999)*v[i][j]) + float32(float32(float32(1-0.999)*g)*g)
				down := float32(rate*m[i][j]) / (float32(float32(math.Sqrt(float64(v[i][j])))/root) + 1e-8)
				p[i][j] = float32(float32(1-1e-3*0.01)*p[i][j]) - down
			}
		}
	}
	for i := range params {
		if !slices.Equal(params[i], p[i]) || !slices.Equal(state.M[i], m[i]) || !slices.Equal(state.V[i], v[i]) {
			t.Errorf("tensor %d differs", i)
		}
	}
}

func copied(x [][]float32) [][]float32 {
	y := make([][]float32, len(x))
	for i := range x {
		y[i] = slices.Clone(x[i])
	}
	return y
}

// BenchmarkApply is a step on 40 million parameters, as many as an adapter of rank
// 64 has on a 0.6B model. The first step, which touches the moments, is not counted.
func BenchmarkApply(b *testing.B) {
	const tensors, size = 392, 103_000
	params, grads := make([][]float32, tensors), make([][]float32, tensors)
	for i := range params {
		params[i], grads[i] = make([]float32, size), make([]float32, size)
		for j := range size {
			params[i][j], grads[i][j] = float32(j%97)*0.01, float32(j%31-15)*1e-5
		}
	}
	a, state := Paper(), NewState(params)
	a.Apply(params, grads, state, 1e-4)
	for b.Loop() {
		a.Apply(params, grads, state, 1e-4)
	}
}
