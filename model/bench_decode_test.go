//go:build unix

package model

import (
	"context"
	"slices"
	"testing"
	"time"

	"troupe/internal/prng"
	"troupe/model/kernels"
)

// benchLargeDecode decodes 16 tokens of n continuations a round, in turns with what bounds
// it: reads of the same packed weights in the same order by the same workers, and
// products of n rows with them and nothing else. Bandwidth changes by half within
// seconds here, so that only neighbours in time are compared: a share is the median
// over the rounds of a round's rate over the mean of those just before and after it.
func benchLargeDecode(b *testing.B, m *Model, n int) {
	const tokens, passes = 16, 4
	reqs := make([]GenRequest, n)
	for i := range reqs {
		reqs[i] = GenRequest{Prompt: []int32{5}, MaxTokens: tokens, Temperature: 1, Key: prng.State(i)}
	}
	d, weights := m.NewDecoder(DecoderOptions{}), m.products()
	x, y := make([]float32, n*m.Config.Inner), make([]float32, n*m.Config.Vocab)
	for _, v := range [][]float32{x, y} {
		for i := range v {
			v[i] = 1 // memory that nobody wrote is one page of zeros
		}
	}
	decode := func() {
		if _, err := d.Generate(context.Background(), reqs); err != nil {
			b.Fatal(err)
		}
	}
	read := func() float64 {
		return passRate(passes, func() { each(weights, m.pool.Read) })
	}
	multiply := func() float64 {
		return passRate(passes, func() {
			each(weights, func(w *kernels.Matrix) { m.pool.MatMul(y, w.N, x, w.K, n, w, false) })
		})
	}
	decode() // touches the caches' memory for the first time
	var rates, reads, products []float64
	reads, products = append(reads, read()), append(products, multiply())
	for b.Loop() {
		rates = append(rates, tokens*passRate(1, decode))
		b.StopTimer()
		reads, products = append(reads, read()), append(products, multiply())
		b.StartTimer()
	}
	bytes := 0
	each(weights, func(w *kernels.Matrix) { bytes += w.Bytes() })
	b.ReportMetric(float64(tokens*n*b.N)/b.Elapsed().Seconds(), "tok/s")
	b.ReportMetric(median(rates)*float64(n), "tok/s-median")
	b.ReportMetric(median(reads)*float64(bytes)/1e9, "GB/s-reads")
	b.ReportMetric(100*shareOfNeighbours(rates, reads), "%reads")
	b.ReportMetric(100*shareOfNeighbours(rates, products), "%products")
	b.ReportMetric(kernels.Measure(m.pool, 600*time.Millisecond).GFLOPS, "GFLOPS-peak")
}

// products lists the weights of a forward pass in the order of its products.
func (m *Model) products() (all []*kernels.Matrix) {
	for i := range m.layers {
		w := &m.layers[i]
		all = append(all, w.qkv, w.o, w.gup, w.down)
	}
	return append(all, m.head)
}

func each(weights []*kernels.Matrix, f func(*kernels.Matrix)) {
	for _, w := range weights {
		f(w)
	}
}

// passRate is how often f runs in a second, over n runs.
func passRate(n int, f func()) float64 {
	start := time.Now()
	for range n {
		f()
	}
	return float64(n) / time.Since(start).Seconds()
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// shareOfNeighbours is the median of x[i] over the mean of limits[i] and limits[i+1].
func shareOfNeighbours(x, limits []float64) float64 {
	shares := make([]float64, len(x))
	for i := range x {
		shares[i] = x[i] / ((limits[i] + limits[i+1]) / 2)
	}
	return median(shares)
}
