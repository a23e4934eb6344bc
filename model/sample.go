package model

import (
	"cmp"
	"slices"

	"troupe/model/kernels"
)

// sampler draws tokens from logits; it keeps memory between draws.
type sampler struct {
	exp  []float32
	kept []int32
}

// draw picks a token and gives its log-probability under the temperature
// (filters don't change what is reported). Temperature 0 is greedy, reported
// at temperature 1. The token is the inverse of the distribution function over
// ids in order, at the request's draw for this token index.
func (s *sampler) draw(head *kernels.Head, logits []float32, vocab int, r *GenRequest, token int) (int32, float32) {
	head.Temperature = r.Temperature
	st := head.Stats(logits)
	live := logits[:vocab]
	var id int32
	if r.Temperature == 0 {
		best := kernels.Max(live)
		for i, v := range live {
			if v == best {
				id = int32(i)
				break
			}
		}
	} else {
		e := floats(&s.exp, vocab)
		scale := 1 / r.Temperature
		kernels.ExpRow(e, live, scale, float32(kernels.Max(live)*scale))
		if r.TopK > 0 && r.TopK < vocab || r.TopP > 0 && r.TopP < 1 || r.MinP > 0 {
			s.filter(e, r)
		}
		id = invert(e, r.Key.Uniform(token))
	}
	return id, head.TokenLogProb(logits, st, id)
}

// invert gives the first id at which the running sum of e passes u of the
// whole.
func invert(e []float32, u float64) int32 {
	total := 0.0
	for _, v := range e {
		total += float64(v)
	}
	aim, sum, last := u*total, 0.0, 0
	for i, v := range e {
		if v == 0 {
			continue
		}
		sum += float64(v)
		last = i
		if sum > aim {
			break
		}
	}
	return int32(last)
}

// filter sets to 0 what top-k, then top-p, then min-p leave out. Among equal
// ones the lower id is kept.
func (s *sampler) filter(e []float32, r *GenRequest) {
	total, floor := 0.0, float32(0)
	for _, v := range e {
		total += float64(v)
	}
	topP := r.TopP > 0 && r.TopP < 1
	if topP && !(r.TopK > 0) {
		// All tokens below this together have less than 1-p: none is needed, and
		// the sort is short.
		floor = float32((1 - float64(r.TopP)) * total / float64(len(e)) * 0.5)
	}
	s.kept = s.kept[:0]
	for i, v := range e {
		if v > floor {
			s.kept = append(s.kept, int32(i))
		}
	}
	slices.SortFunc(s.kept, func(a, b int32) int {
		if e[a] != e[b] {
			return cmp.Compare(e[b], e[a])
		}
		return cmp.Compare(a, b)
	})
	keep := s.kept
	if r.TopK > 0 && r.TopK < len(keep) {
		keep = keep[:r.TopK]
		total = 0
		for _, i := range keep {
			total += float64(e[i])
		}
	}
	if topP {
		sum := 0.0
		for n, i := range keep {
			sum += float64(e[i])
			if sum >= float64(r.TopP)*total {
				keep = keep[:n+1]
				break
			}
		}
	}
	if r.MinP > 0 {
		n := 1
		for n < len(keep) && e[keep[n]] >= r.MinP*e[keep[0]] {
			n++
		}
		keep = keep[:n]
	}
	s.apply(e, keep)
}

// apply zeroes all but the kept ids.
func (s *sampler) apply(e []float32, keep []int32) {
	slices.Sort(keep)
	at := 0
	for _, id := range keep {
		clear(e[at:id])
		at = int(id) + 1
	}
	clear(e[at:])
}
