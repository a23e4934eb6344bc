package kernels

import (
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// fence gives slices that end exactly where an unreadable page begins: one read
// or write past the end kills the test.
type fence struct{ t *testing.T }

func (f fence) floats(n int) []float32 {
	page := os.Getpagesize()
	size := (4*n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := syscall.Mprotect(b[size:], syscall.PROT_NONE); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = syscall.Munmap(b) })
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[size-4*n])), n)
}

func (f fence) copyOf(x []float32) []float32 {
	y := f.floats(len(x))
	copy(y, x)
	return y
}

func TestOperandsMayEndAtAnUnreadablePage(t *testing.T) {
	arithmeticOnly(t)
	each(t, func(t *testing.T) {
		t.Run("rows", fencedRows)
		t.Run("products", fencedProducts)
		t.Run("attention", fencedAttention)
	})
}

func fencedRows(t *testing.T) {
	f := fence{t}
	for n := 1; n < 40; n++ {
		var a [5][]float32
		for i := range a {
			a[i] = f.floats(n)
		}
		for _, c := range rowCases {
			var s, u [16]float32
			c.run(a, &s, &u)
		}
	}
}

// fencedProducts covers every tile height and tail of columns and summed index.
func fencedProducts(t *testing.T) {
	f := fence{t}
	r := rand.New(rand.NewPCG(3, 3))
	for m := 1; m <= 15; m++ {
		for _, n := range []int{1, 8, 15, 16, 17, 31, 32, 33, 48, 50} {
			for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 9} {
				w := normal(r, n*k)
				h := make([]uint16, n*k)
				for i := range w {
					h[i] = BF16(w[i])
					w[i] = FromBF16(h[i])
				}
				x, y := f.copyOf(normal(r, m*k)), f.copyOf(normal(r, m*n))
				want := append([]float32(nil), y...)
				chainMatMul(want, n, x, k, m, w, n, k, true)
				got := f.copyOf(y)
				(*Pool)(nil).MatMul(got, n, x, k, m, PackF32(w, n, k), true)
				what := fmt.Sprintf("%dx%dx%d", m, n, k)
				sameBits(t, what, got, want)
				copy(got, y)
				(*Pool)(nil).MatMul(got, n, x, k, m, PackBF16(h, n, k), true)
				sameBits(t, what+" bf16", got, want)
				dw := f.copyOf(w)
				(*Pool)(nil).GradW(dw, y, n, x, k, m, n, k)
				for i := range w {
					for q := range m {
						w[i] = fma(y[q*n+i/k], x[q*k+i%k], w[i])
					}
				}
				sameBits(t, what+" GradW", dw, w)
			}
		}
	}
}

func fencedAttention(t *testing.T) {
	f := fence{t}
	for i, c := range attentionCases {
		b := newAttentionBatch(c, uint64(i))
		for j := range b.spans {
			if own := b.spans[j].Own; own.Cap == own.Len { // full: its values end at the page
				own.V = f.copyOf(own.V)
			}
		}
		last := b.rows*b.ldq - (b.ldq - b.Heads*b.HeadDim)
		q, out := f.copyOf(b.q[:last]), f.floats(last)
		b.Forward(nil, out, b.ldq, q, b.ldq, b.spans, b.stats, &b.scratch)
		b.Forward(nil, b.out, b.ldq, b.q, b.ldq, b.spans, b.stats, &b.scratch)
		for row := range b.rows {
			n := b.Heads * b.HeadDim
			sameBits(t, "out", out[row*b.ldq:][:n], b.out[row*b.ldq:][:n])
		}
		dkv := b.rows*b.ldkv - (b.ldkv - b.KVHeads*b.HeadDim)
		b.Backward(nil, f.floats(last), b.ldq, f.floats(dkv), f.floats(dkv), b.ldkv, f.floats(last), b.ldq,
			out, b.ldq, q, b.ldq, b.spans, b.stats, &b.scratch)
	}
}
