package grpo

import (
	"fmt"
	"math"
)

// Kind names a policy loss.
type Kind string

// The losses. ρ is π/π_old of a token, A the advantage.
const (
	// PPO is -min(ρA, clip(ρ, 1-low, 1+high)A), with dual clip for A < 0
	// (Schulman et al. 2017; clip-higher: Yu et al. 2025, eq. 10).
	PPO Kind = "ppo"
	// GSPO replaces ρ by the row's geometric mean ratio (Zheng et al. 2025,
	// eq. 7); its gradient flows through each token's own log-probability.
	GSPO Kind = "gspo"
	// CISPO is -sg(min(ρ, cap))·A·log π (MiniMax 2025, eq. 4).
	CISPO Kind = "cispo"
	// REINFORCE is -A·log π; verl calls it gpg.
	REINFORCE Kind = "reinforce"
)

// Kinds lists the names a config may use.
func Kinds() []string { return []string{string(PPO), string(GSPO), string(CISPO), string(REINFORCE)} }

// Loss is a policy loss with its constants.
type Loss struct {
	Kind     Kind
	ClipLow  float64 // ε below 1
	ClipHigh float64 // ε above 1
	DualClip float64 // c > 1: the loss of a token with A < 0 is at most -cA; 0 switches it off
	Cap      float64 // CISPO's bound on ρ itself (not 1+ε)
	Clamp    float64 // bound on |log ρ|, beyond which a token has no gradient: 20 in verl, 0 for none
}

// Validate reports constants that make no loss.
func (l Loss) Validate() error {
	switch l.Kind {
	case PPO, GSPO, CISPO, REINFORCE:
	default:
		return fmt.Errorf("unknown loss %q", string(l.Kind))
	}
	switch {
	case !(l.ClipLow >= 0 && l.ClipLow < 1):
		return fmt.Errorf("clip low %v is not in [0, 1)", l.ClipLow)
	case !(l.ClipHigh >= 0):
		return fmt.Errorf("clip high %v is negative", l.ClipHigh)
	case l.DualClip != 0 && !(l.DualClip > 1):
		return fmt.Errorf("dual clip %v is not above 1", l.DualClip)
	case l.Kind == CISPO && !(l.Cap > 0):
		return fmt.Errorf("cispo cap %v is not positive", l.Cap)
	}
	return nil
}

// Row is one sampled answer: log-probabilities of its tokens now and when it
// was sampled.
type Row struct {
	LogProb, Old   []float64
	Advantage      float64
	TokenAdvantage []float64 // instead of Advantage when not nil
	ISWeight       []float64 // importance weights that multiply a token's loss after clipping; nil means 1
	Mask           []bool    // tokens that count; nil means all
}

func (r Row) on(t int) bool { return r.Mask == nil || r.Mask[t] }

func (r Row) advantage(t int) float64 {
	if r.TokenAdvantage != nil {
		return r.TokenAdvantage[t]
	}
	return r.Advantage
}

// Len is the number of tokens that count.
func (r Row) Len() int {
	if r.Mask == nil {
		return len(r.LogProb)
	}
	n := 0
	for _, m := range r.Mask {
		if m {
			n++
		}
	}
	return n
}

// Stats are sums over tokens; Add joins rows, the methods make shares.
type Stats struct {
	Loss         float64 // weighted
	Tokens       int
	Clipped      int     // tokens where the clipped term decides
	ClippedHigh  int     // of those, with ρ above the range
	ClippedLower int     // tokens stopped by the dual clip
	KL           float64 // sum of -log ρ, the k1 estimate of KL(old, new)
	MaxLogRatio  float64 // largest |log ρ|
	Chi2         float64 // sum of ρ² (log ρ clamped to ±20)
}

// Add joins two sets of tokens.
func (s *Stats) Add(o Stats) {
	s.Loss += o.Loss
	s.Tokens += o.Tokens
	s.Clipped += o.Clipped
	s.ClippedHigh += o.ClippedHigh
	s.ClippedLower += o.ClippedLower
	s.KL += o.KL
	s.MaxLogRatio = max(s.MaxLogRatio, o.MaxLogRatio)
	s.Chi2 += o.Chi2
}

func (s Stats) share(x float64) float64 {
	if s.Tokens == 0 {
		return 0
	}
	return x / float64(s.Tokens)
}

// ClipFrac is the share of tokens that the clip stopped.
func (s Stats) ClipFrac() float64 { return s.share(float64(s.Clipped)) }

// ClipFracHigh is the share of tokens that the upper bound stopped.
func (s Stats) ClipFracHigh() float64 { return s.share(float64(s.ClippedHigh)) }

// ClipFracLower is the share of tokens that the dual clip stopped.
func (s Stats) ClipFracLower() float64 { return s.share(float64(s.ClippedLower)) }

// PPOKL is the token mean of -log ρ.
func (s Stats) PPOKL() float64 { return s.share(s.KL) }

// ChiSquare is the token mean of ρ² minus 1.
func (s Stats) ChiSquare() float64 {
	if s.Tokens == 0 {
		return 0
	}
	return s.share(s.Chi2) - 1
}

// Row computes the loss of one row, each token weighing weight (see
// TokenWeights), and adds d loss / d log-probability to grad, one element a
// token. Masked tokens are not read, so a NaN there does no harm.
func (l Loss) Row(r Row, weight float64, grad []float64) Stats {
	var s Stats
	rowRatio, rowClamped := 0.0, false
	if l.Kind == GSPO {
		rowRatio, rowClamped = l.rowRatio(r)
	}
	for t := range r.LogProb {
		if !r.on(t) {
			continue
		}
		raw := r.LogProb[t] - r.Old[t]
		x := raw
		if l.Clamp > 0 {
			x = max(-l.Clamp, min(l.Clamp, x))
		}
		a := r.advantage(t)
		var value, slope float64
		switch l.Kind {
		case PPO:
			value, slope = l.ppo(&s, math.Exp(x), a)
			if x != raw {
				slope = 0
			}
			s.KL -= x
		case GSPO:
			value, slope = l.ppo(&s, rowRatio, a)
			if rowClamped {
				slope = 0
			}
			s.KL -= raw
		case CISPO:
			w := math.Min(math.Exp(x), l.Cap)
			if math.Exp(x) > l.Cap {
				s.Clipped++
				s.ClippedHigh++
			}
			value, slope = -w*a*r.LogProb[t], -w*a
			s.KL -= x
		case REINFORCE:
			value, slope = -a*r.LogProb[t], -a
			s.KL -= x
		}
		s.Tokens++
		s.MaxLogRatio = max(s.MaxLogRatio, math.Abs(raw))
		s.Chi2 += math.Exp(2 * max(-20, min(20, raw)))
		w := weight
		if r.ISWeight != nil {
			w *= r.ISWeight[t]
		}
		s.Loss += w * value
		grad[t] += w * slope
	}
	return s
}

// ppo is the clipped loss of a ratio and its slope by the log-probability.
func (l Loss) ppo(s *Stats, ratio, a float64) (value, slope float64) {
	first := -a * ratio
	second := -a * max(1-l.ClipLow, min(1+l.ClipHigh, ratio))
	value, slope = first, first
	if second > first {
		value, slope = second, 0
		s.Clipped++
		if ratio > 1 {
			s.ClippedHigh++
		}
	}
	if third := -a * l.DualClip; l.Kind == PPO && l.DualClip > 0 && a < 0 && value > third {
		value, slope = third, 0
		s.ClippedLower++
	}
	return value, slope
}

// rowRatio is exp of the row's mean log-ratio, clamped to at most 10, and
// whether it was.
func (l Loss) rowRatio(r Row) (ratio float64, clamped bool) {
	sum, n := 0.0, 0
	for t := range r.LogProb {
		if r.on(t) {
			sum += r.LogProb[t] - r.Old[t]
			n++
		}
	}
	if n == 0 {
		return 1, false
	}
	mean := sum / float64(n)
	return math.Exp(min(10, mean)), mean > 10
}
