package metrics

import "math"

// OffPolicy compares the log-probabilities that the trainer and the sampler
// give the same tokens. The definitions are verl 0.6.1's; with one engine for
// both, every field must be what equal numbers give.
type OffPolicy struct {
	TrainingPPL float64 // mean over rows of exp(-mean log-prob)
	RolloutPPL  float64
	PPLRatio    float64 // mean over rows of exp(mean rollout - mean training)
	KL          float64 // token mean of rollout - training
	K3          float64 // token mean of e^d - d - 1, d = training - rollout
	Chi2Token   float64 // token mean of e^2d, minus 1; d clamped to ±20
	Chi2Seq     float64 // mean over rows of e^2Σd, minus 1; Σd clamped to ±20
	LogPPLDiff  float64 // mean over rows of mean rollout - mean training
	MaxLogRatio float64 // largest |d|
	TokenCount  int
}

// CompareOffPolicy takes one slice a row. A row without tokens counts with
// perplexity 1 and ratio 1, as in verl.
func CompareOffPolicy(training, rollout [][]float64) OffPolicy {
	var o OffPolicy
	rows := float64(len(training))
	if rows == 0 {
		return OffPolicy{TrainingPPL: 1, RolloutPPL: 1, PPLRatio: 1}
	}
	var kl, k3, chi2 float64
	for i := range training {
		lt, lr, sum := 0.0, 0.0, 0.0
		for t, l := range training[i] {
			d := l - rollout[i][t]
			lt += l
			lr += rollout[i][t]
			sum += d
			kl -= d
			k3 += math.Exp(d) - d - 1
			chi2 += math.Exp(2 * max(-20, min(20, d)))
			o.MaxLogRatio = max(o.MaxLogRatio, math.Abs(d))
			o.TokenCount++
		}
		if n := float64(len(training[i])); n > 0 {
			lt /= n
			lr /= n
		}
		o.TrainingPPL += math.Exp(-lt) / rows
		o.RolloutPPL += math.Exp(-lr) / rows
		o.PPLRatio += math.Exp(lr-lt) / rows
		o.LogPPLDiff += (lr - lt) / rows
		o.Chi2Seq += math.Exp(2*max(-20, min(20, sum))) / rows
	}
	o.Chi2Seq--
	if n := float64(o.TokenCount); n > 0 {
		o.KL, o.K3, o.Chi2Token = kl/n, k3/n, chi2/n-1
	}
	return o
}
