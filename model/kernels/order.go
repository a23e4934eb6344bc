package kernels

import "sync"

// order is how the bfloat16 values of a packed weight lie in a panel.
type order int

const (
	orderPairs  order = iota // [ceil(k/2)][32][2], for the kind F32
	orderBlocks              // as packBlocks says, for vector units
	orderTiles               // pairs as well, k filled up to whole blocks of 32: AMX tiles
)

// order is what the family in use takes for a kind.
func (n Numerics) order() order {
	switch {
	case n == F32:
		return orderPairs
	case tilesActive():
		return orderTiles
	}
	return orderBlocks
}

// steps is the number of dwords of a column in a panel.
func (o *operand) steps() int {
	if o.order == orderPairs {
		return (o.k + 1) / 2
	}
	return (o.k + quad - 1) / quad * quad / 2
}

// index is the place of column c, summed index k among the bfloat16 values.
func (o *operand) index(c, k int) int {
	d, half := k/2, k&1
	if o.order == orderBlocks {
		d, half = k/quad*16+k%quad/4+8*(k&1), 1-k>>1&1
	}
	return ((c/panel*o.steps()+d)*panel+c%panel)*2 + half
}

// reordered is an operand's copy in the other order of the TDPBF16PS kinds.
type reordered struct {
	once sync.Once
	operand
}

// in returns the operand in the order that the family in use takes. Only a family
// switched after packing, as in tests, makes a copy.
func (o *operand) in(want order) *operand {
	if o.order == want {
		return o
	}
	o.other.once.Do(func() {
		o.other.operand = packHalves(o.n, o.k, want, func(j, k0, k1 int, buffer []uint16) (cols [][]uint16) {
			for c := range min(panel, o.n-j*panel) {
				col := buffer[c*spanStride:][:k1-k0]
				for i := range col {
					col[i] = o.h[o.index(j*panel+c, k0+i)]
				}
				cols = append(cols, col)
			}
			return cols
		})
	})
	return &o.other.operand
}
