package trainer

import (
	"math"
	"strings"

	"troupe/model"
	"troupe/model/kernels"
	"troupe/trainer/policy"
)

// displacement is how far a set has come from where it began: the distance of
// all parameters, or the Frobenius norm of what the adapter adds to the base.
func (t *Trainer) displacement(s *policy.Set) float64 {
	if s.Adapter == nil {
		base := t.parts.Base.Params()
		values := make([][]float32, len(base))
		for i, p := range base {
			values[i] = p.Data
		}
		return distanceBetween(values, s.Values())
	}
	var pairs [][2]model.Param
	params := s.Adapter.Params()
	for i := 0; i+1 < len(params); i++ {
		a, b := params[i], params[i+1]
		if strings.Contains(a.Name, "lora_A") && strings.Contains(b.Name, "lora_B") {
			pairs = append(pairs, [2]model.Param{a, b})
		}
	}
	norms := make([]float64, len(pairs))
	kernels.Default().Run(len(pairs), func(_, i int) {
		a, b := pairs[i][0], pairs[i][1]
		norms[i] = productNorm2(b.Data, a.Data, a.Shape[0])
	})
	sum := 0.0
	for _, n := range norms {
		sum += n
	}
	return s.Adapter.Scaling() * math.Sqrt(max(0, sum))
}

// productNorm2 is ‖BA‖² for B [out, rank] and A [rank, in]: the inner product
// of BᵀB and AAᵀ.
func productNorm2(b, a []float32, rank int) float64 {
	in := len(a) / rank
	turned := make([]float32, len(a))
	for i := range rank {
		for k, v := range a[i*in : (i+1)*in] {
			turned[k*rank+i] = v
		}
	}
	aa, bb := gram(turned, rank), gram(b, rank)
	sum := 0.0
	for i := range aa {
		sum += float64(aa[i] * bb[i])
	}
	return sum
}

// gram is XᵀX for X [n, columns]. It goes through X once, row by row: a large
// adapter has hundreds of millions of products, which column by column would
// each wait for memory.
func gram(x []float32, columns int) []float64 {
	g := make([]float64, columns*columns)
	row := make([]float64, columns)
	for k := 0; k < len(x); k += columns {
		for i, v := range x[k : k+columns] {
			row[i] = float64(v)
		}
		for i, v := range row {
			rest := row[i:]
			out := g[i*columns+i:][:len(rest)]
			for j, w := range rest {
				out[j] += float64(v * w)
			}
		}
	}
	for i := range columns {
		for j := range i {
			g[i*columns+j] = g[j*columns+i]
		}
	}
	return g
}
