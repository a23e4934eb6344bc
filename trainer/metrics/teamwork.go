package metrics

import (
	"math"
	"slices"
)

// Sensitivity is how much more likely an answer is under its own prompt than
// under a prompt drawn evenly from all: log p(first) - log mean p, for the
// log-likelihoods of one answer under every prompt, its own first.
func Sensitivity(logLikelihoods []float64) float64 {
	most := slices.Max(logLikelihoods)
	sum := 0.0
	for _, l := range logLikelihoods {
		sum += math.Exp(l - most)
	}
	return logLikelihoods[0] - most - math.Log(sum/float64(len(logLikelihoods)))
}

// Selection sums up how well candidates were chosen from, or made into an
// answer.
type Selection struct {
	Episodes  int
	Right     int     // episodes whose answer was right
	Any       int     // episodes with a right candidate
	Contested int     // episodes with right and wrong candidates
	Chosen    int     // of those, with a right answer
	Chance    float64 // of those, the sum of the shares of right candidates
	Candidate float64 // sum of the shares of right candidates over all episodes
}

// Add counts an episode.
func (s *Selection) Add(candidates []bool, answer bool) {
	n := 0
	for _, c := range candidates {
		n += toInt(c)
	}
	share := float64(n) / float64(max(1, len(candidates)))
	s.Episodes++
	s.Right += toInt(answer)
	s.Any += toInt(n > 0)
	s.Candidate += share
	if n > 0 && n < len(candidates) {
		s.Contested++
		s.Chosen += toInt(answer)
		s.Chance += share
	}
}

// Lift is how much more often than by chance the answer was right where the
// candidates differed; ok is false where they never did.
func (s *Selection) Lift() (lift float64, ok bool) {
	if s.Contested == 0 {
		return 0, false
	}
	return (float64(s.Chosen) - s.Chance) / float64(s.Contested), true
}

// MinusOracle is the accuracy minus that of an oracle that picks a right
// candidate where there is one. Above 0, the last role no longer picks but
// solves.
func (s *Selection) MinusOracle() float64 {
	return float64(s.Right-s.Any) / float64(max(1, s.Episodes))
}
