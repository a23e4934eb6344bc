package model

import (
	"cmp"
	"slices"

	"troupe/model/kernels"
)

// sampler draws tokens from logits; it keeps memory between draws.
type sampler struct {
	exp    []float32
	kept   []int32
	blocks []float64
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
		id = s.invert(e, r.Key.Uniform(token))
	}
	return id, head.TokenLogProb(logits, st, id)
}

// invertBlock is the number of ids whose mass is summed on its own, so that the
// search reads a large vocabulary once and one block twice.
const invertBlock = 512

// invert gives the first id at which the running sum of e, over ids in order,
// passes u of the whole. The sums are float64, by blocks.
func (s *sampler) invert(e []float32, u float64) int32 {
	s.blocks = s.blocks[:0]
	total := 0.0
	for at := 0; at < len(e); at += invertBlock {
		v := mass(e[at:min(at+invertBlock, len(e))])
		s.blocks = append(s.blocks, v)
		total += v
	}
	aim, sum, block := u*total, 0.0, 0
	for i, v := range s.blocks {
		if v == 0 {
			continue
		}
		block = i
		if sum+v > aim {
			break
		}
		sum += v
	}
	last := block * invertBlock
	for i, v := range e[last:min(last+invertBlock, len(e))] {
		if v == 0 {
			continue
		}
		sum += float64(v)
		last = block*invertBlock + i
		if sum > aim {
			break
		}
	}
	return int32(last)
}

// mass sums in four lanes.
func mass(e []float32) float64 {
	var s0, s1, s2, s3 float64
	for len(e) >= 4 {
		s0 += float64(e[0])
		s1 += float64(e[1])
		s2 += float64(e[2])
		s3 += float64(e[3])
		e = e[4:]
	}
	for _, v := range e {
		s0 += float64(v)
	}
	return (s0 + s1) + (s2 + s3)
}

// filter sets to 0 what top-k, then top-p, then min-p leave out. Among equal
// ones the lower id is kept.
func (s *sampler) filter(e []float32, r *GenRequest) {
	total, floor := mass(e), float32(0)
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
