package kernels

// Head is the output layer fused with temperature, log-softmax, gather and
// entropy. Logits exist for a chunk of rows only, never for all.
type Head struct {
	W *Matrix // [vocabulary, hidden]
	// Temperature divides the logits; 0 means 1. Log-probabilities and entropies
	// are those of the tempered distribution.
	Temperature float32
	// Live is the number of ids that exist, where the vocabulary is padded beyond
	// the tokenizer's: the others have no probability and no gradient. 0 means all.
	Live int
	// Bytes bounds the logits computed at a time; 0 means 64 MiB. KeptBytes is how
	// much more Backward may hold of a sequence that is longer than that: logits
	// beyond it are computed twice. Neither changes a result.
	Bytes, KeptBytes int
}

// headScratch is the memory of one Head call.
type headScratch struct {
	logits                  []float32
	max, sum, logp, entropy []float32
	dlogp, dentropy         []float32
}

// Loss gets the log-probabilities and entropies of the rows of one sequence and
// returns the loss's derivatives with respect to them; the second may be nil.
// The arguments are valid during the call only.
type Loss func(seq int, logp, entropy []float32) (dlogp, dentropy []float32)

func (h *Head) scale() float32 {
	if h.Temperature == 0 {
		return 1
	}
	return 1 / h.Temperature
}

// live is the number of ids with a probability.
func (h *Head) live() int {
	if h.Live == 0 {
		return h.W.N
	}
	return h.Live
}

// chunk is the number of rows whose logits fit the budget.
func (h *Head) chunk() int {
	b := h.Bytes
	if b == 0 {
		b = 64 << 20
	}
	return max(1, b/(4*h.Stride()))
}

// Stride is the row stride of logits.
func (h *Head) Stride() int { return Stride(h.W.N) }

// Logits computes rows of raw logits, N values with stride Stride: the same bits that
// LogProbs and Backward see. TokenLogProb turns one row into what they report.
func (h *Head) Logits(p *Pool, logits, x []float32, ldx, rows int) {
	p.MatMul(logits, h.Stride(), x, ldx, rows, h.W, false)
}

// RowStats describes one row of logits under a temperature.
type RowStats struct {
	Max    float32 // largest tempered logit
	LogSum float32 // ln Σ exp(z - Max)
	// Entropy in nats.
	Entropy float32
	sum     float32
}

// Stats computes the statistics of a row of logits.
func (h *Head) Stats(logits []float32) RowStats {
	scale, logits := h.scale(), logits[:h.live()]
	m := float32(rowMax(logits) * scale)
	sum, weighed := rowEntropy(logits, scale, m)
	l := Log(sum)
	return RowStats{Max: m, LogSum: l, Entropy: l - float32(weighed/sum), sum: sum}
}

// TokenLogProb returns the log-probability of a token: bit for bit what LogProbs
// and Backward give for the same hidden row.
func (h *Head) TokenLogProb(logits []float32, st RowStats, token int32) float32 {
	return float32(float32(logits[token]*h.scale())-st.Max) - st.LogSum
}

// LogProbs computes for each row of x the log-probability of its target and the
// entropy of its distribution; entropy may be nil.
func (h *Head) LogProbs(p *Pool, logp, entropy, x []float32, ldx, rows int, targets []int32, scratch *Scratch) {
	step := min(h.chunk(), rows)
	scratch.head.room(step*h.Stride(), rows)
	if entropy == nil {
		entropy = scratch.head.entropy
	}
	for r := 0; r < rows; r += step {
		n := min(step, rows-r)
		h.forward(p, scratch.head.logits, logp[r:], entropy[r:], x[r*ldx:], ldx, n, targets[r:], &scratch.head, 0)
	}
}

// forward computes logits, and statistics of n rows into rows at … of the scratch.
func (h *Head) forward(p *Pool, logits, logp, entropy, x []float32, ldx, n int, targets []int32, s *headScratch, at int) {
	v, ld := h.W.N, h.Stride()
	h.Logits(p, logits, x, ldx, n)
	p.spread(n, rowGrain(8*v), func(_, i, j int) {
		for r := i; r < j; r++ {
			z := logits[r*ld:][:v]
			st := h.Stats(z)
			s.max[at+r], s.sum[at+r] = st.Max, st.sum
			logp[r] = h.TokenLogProb(z, st, targets[r])
			entropy[r] = st.Entropy
		}
	})
}

// Backward does forward and backward in one pass. Sequence i has the rows
// [bounds[i], bounds[i+1]) of x. loss is called once a sequence, in order. The
// gradient of x is added to dx, that of the weight (rows in order) to dw unless nil.
// logp and entropy receive the forward's results and must hold all rows.
func (h *Head) Backward(p *Pool, dx []float32, lddx int, dw, logp, entropy, x []float32, ldx int, bounds []int, targets []int32, loss Loss, scratch *Scratch) {
	if len(bounds) < 2 {
		return
	}
	s := &scratch.head
	limit, rows := h.chunk(), bounds[len(bounds)-1]
	ld := h.Stride()
	kept := h.KeptBytes / (4 * ld) / limit * limit
	s.room(min(limit+kept, rows)*ld, rows)
	for i := 0; i+1 < len(bounds); {
		r0 := bounds[i]
		j := i + 1
		for j+1 < len(bounds) && bounds[j+1]-r0 <= limit {
			j++
		}
		r1 := bounds[j]
		// Logits of the first kept rows have places of their own, later chunks share one.
		chunk := func(r int) ([]float32, int) { return s.logits[min(r-r0, kept)*ld:], min(limit, r1-r) }
		for r := r0; r < r1; r += limit {
			z, n := chunk(r)
			h.forward(p, z, logp[r:], entropy[r:], x[r*ldx:], ldx, n, targets[r:], s, r)
		}
		for k := i; k < j; k++ {
			a, b := bounds[k], bounds[k+1]
			dl, de := loss(k, logp[a:b:b], entropy[a:b:b])
			copy(s.dlogp[a:b], dl)
			clear(s.dentropy[a:b])
			copy(s.dentropy[a:b], de)
		}
		for r := r0; r < r1; r += limit {
			z, n := chunk(r)
			if r1-r0 > kept+limit && r-r0 >= kept {
				h.Logits(p, z, x[r*ldx:], ldx, n)
			}
			h.gradient(p, z, n, r, targets, entropy, s)
			p.MatMulT(dx[r*lddx:], lddx, z, ld, n, h.W, true)
			if dw != nil {
				p.GradW(dw, z, ld, x[r*ldx:], ldx, n, h.W.N, h.W.K)
			}
		}
		i = j
	}
}

// gradient replaces the logits of rows [at, at+n) by their gradients.
func (h *Head) gradient(p *Pool, logits []float32, n, at int, targets []int32, entropy []float32, s *headScratch) {
	v, ld, live, scale := h.W.N, h.Stride(), h.live(), h.scale()
	p.spread(n, rowGrain(8*v), func(_, i, j int) {
		for r := i; r < j; r++ {
			z := logits[r*ld:][:v]
			g, e := s.dlogp[at+r], s.dentropy[at+r]
			// dz = p·(-g - e·(ln p + entropy)), ln p = d - ln sum
			a := float32(-g-float32(e*float32(entropy[at+r]-Log(s.sum[at+r])))) * scale
			b := -float32(e * scale)
			rowHeadBack(z[:live], scale, s.max[at+r], 1/s.sum[at+r], a, b)
			clear(z[live:])
			z[targets[at+r]] += float32(g * scale)
		}
	})
}

// room makes the buffers large enough.
func (s *headScratch) room(logits, rows int) {
	if cap(s.logits) < logits {
		s.logits = alignedF32(logits)
	}
	s.logits = s.logits[:cap(s.logits)]
	if len(s.max) < rows {
		n := rows + rows/4
		for _, b := range []*[]float32{&s.max, &s.sum, &s.logp, &s.entropy, &s.dlogp, &s.dentropy} {
			*b = make([]float32, n)
		}
	}
}
