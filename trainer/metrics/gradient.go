package metrics

import "math"

// Part names a share of an update: the rows of one role in one slot.
type Part struct {
	Role string
	Slot int
}

// Gradients take an update apart: gradients of the actual loss, before
// clipping, one for each part. They add up to the whole exactly, since every
// row's loss has its final denominator already.
type Gradients struct {
	Parts []Part
	gram  [][]float64 // inner products of the parts
}

// NewGradients computes the inner products of the parts' gradients, each a list
// of tensors. The gradients themselves are not kept.
func NewGradients(parts []Part, grads [][][]float32) *Gradients {
	g := &Gradients{Parts: parts, gram: make([][]float64, len(parts))}
	for i := range parts {
		g.gram[i] = make([]float64, len(parts))
		for j := 0; j <= i; j++ {
			d := inner(grads[i], grads[j])
			g.gram[i][j], g.gram[j][i] = d, d
		}
	}
	return g
}

func inner(a, b [][]float32) float64 {
	sum := 0.0
	for i := range a {
		for j, v := range a[i] {
			sum += float64(float64(v) * float64(b[i][j]))
		}
	}
	return sum
}

// select lists the parts of a role, or all for "".
func (g *Gradients) parts(role string) []int {
	var out []int
	for i, p := range g.Parts {
		if role == "" || p.Role == role {
			out = append(out, i)
		}
	}
	return out
}

// product is <Σa, Σb> over two sets of parts.
func (g *Gradients) product(a, b []int) float64 {
	sum := 0.0
	for _, i := range a {
		for _, j := range b {
			sum += g.gram[i][j]
		}
	}
	return sum
}

// Slots is how many parts a role has.
func (g *Gradients) Slots(role string) int { return len(g.parts(role)) }

// Norm is the norm of a role's gradient, or of all for "".
func (g *Gradients) Norm(role string) float64 {
	p := g.parts(role)
	return math.Sqrt(max(0, g.product(p, p)))
}

// Amplification is ‖Σ g_m‖/√(Σ ‖g_m‖²) over the slots of a role: 1 for slots
// that know nothing of each other, √M for M equal ones. 0 where all are zero.
func (g *Gradients) Amplification(role string) float64 {
	p := g.parts(role)
	own := 0.0
	for _, i := range p {
		own += g.gram[i][i]
	}
	if own == 0 {
		return 0
	}
	return math.Sqrt(max(0, g.product(p, p)) / own)
}

// SlotCosine is the mean cosine between the slots of a role; 0 with fewer than
// two.
func (g *Gradients) SlotCosine(role string) float64 {
	p := g.parts(role)
	sum, n := 0.0, 0
	for a, i := range p {
		for _, j := range p[:a] {
			if l := math.Sqrt(g.gram[i][i] * g.gram[j][j]); l > 0 {
				sum += g.gram[i][j] / l
			}
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// NormShare is ‖g_r‖ over the sum of all roles' norms.
func (g *Gradients) NormShare(role string, roles []string) float64 {
	sum := 0.0
	for _, r := range roles {
		sum += g.Norm(r)
	}
	if sum == 0 {
		return 0
	}
	return g.Norm(role) / sum
}

// MassShare is <g_r, G>/‖G‖², the share of the update that points where the
// whole goes. Shares add up to 1; a negative one is a role that is overruled.
func (g *Gradients) MassShare(role string) float64 {
	all := g.parts("")
	total := g.product(all, all)
	if total <= 0 {
		return 0
	}
	return g.product(g.parts(role), all) / total
}

// Cosine between the gradients of two roles.
func (g *Gradients) Cosine(a, b string) float64 {
	l := g.Norm(a) * g.Norm(b)
	if l == 0 {
		return 0
	}
	return g.product(g.parts(a), g.parts(b)) / l
}

// CorrectedCosine estimates the cosine that the slots of one role would have
// without sampling noise. halves holds, for each slot, the gradients of two
// disjoint halves of its tasks: the cosine between halves of different slots is
// divided by the geometric mean of the cosines within slots. ok is false where
// the halves of some slot do not agree at all, which means that the batch is too
// small to say.
func CorrectedCosine(halves [][2][][]float32) (cos float64, ok bool) {
	type half struct{ slot, half int }
	of := func(h half) [][]float32 { return halves[h.slot][h.half] }
	squares := map[half]float64{} // a pass over all parameters each
	for m := range halves {
		for h := range halves[m] {
			squares[half{m, h}] = inner(halves[m][h], halves[m][h])
		}
	}
	unit := func(a, b half) float64 {
		l := math.Sqrt(squares[a] * squares[b])
		if l == 0 {
			return 0
		}
		return inner(of(a), of(b)) / l
	}
	within := make([]float64, len(halves))
	for m := range halves {
		within[m] = unit(half{m, 0}, half{m, 1})
		if within[m] <= 0 {
			return 0, false
		}
	}
	sum, n := 0.0, 0
	for m := range halves {
		for k := range halves[:m] {
			cross := (unit(half{m, 0}, half{k, 1}) + unit(half{m, 1}, half{k, 0})) / 2
			sum += cross / math.Sqrt(within[m]*within[k])
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

// AmplificationFromCosine is what M equally strong slots with a common cosine
// amount to: amp² = 1 + (M-1)·cos.
func AmplificationFromCosine(cos float64, slots int) float64 {
	return math.Sqrt(max(0, 1+float64(slots-1)*cos))
}
