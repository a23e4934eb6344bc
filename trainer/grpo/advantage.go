package grpo

import (
	"fmt"
	"math"
)

// Estimator names a way to turn the rewards of a group into advantages.
type Estimator string

// The estimators. R is a row's reward, mean and std (n-1) are over its group.
const (
	GRPO     Estimator = "grpo"                 // (R-mean)/(std+eps); Shao et al. 2024, eq. 3
	NoStd    Estimator = "no-std"               // R-mean; Liu et al. 2025
	BatchStd Estimator = "batch-std"            // (R-mean)/(std over all rows+eps); TRL's scale_rewards="batch"
	RLOO     Estimator = "rloo"                 // R minus the mean of the others; Ahmadian et al. 2024
	OPO      Estimator = "opo"                  // R minus the length-weighted mean; Hao et al. 2025
	RPP      Estimator = "reinforce++"          // R whitened over the batch, each token counting once
	RPPBase  Estimator = "reinforce++-baseline" // R-mean whitened over the batch; Hu et al. 2025
)

// Estimators lists the names a config may use.
func Estimators() []string {
	return []string{string(GRPO), string(NoStd), string(BatchStd), string(RLOO), string(OPO), string(RPP), string(RPPBase)}
}

// Singleton says what a group of one row gets: it has no baseline.
type Singleton string

// The rules for groups of one. SingletonZero is ours and TRL's; SingletonRaw is
// what verl's GRPO does: mean 0, std 1, so R/(1+eps).
const (
	SingletonZero Singleton = "zero"
	SingletonRaw  Singleton = "raw"
)

// AdvantageOptions are the switches of Advantages.
type AdvantageOptions struct {
	Estimator Estimator
	Epsilon   float64   // beside std: 1e-6 in verl, 1e-4 in TRL; 0 means 1e-6
	Singleton Singleton // empty means SingletonZero
}

// Advantages gives one advantage a row. rewards, groups and lengths (tokens of
// the row, used by the whitening estimators and OPO) run in parallel; rows with
// equal group strings are compared with one another. A row without tokens takes
// part in its group's statistics.
//
// A group whose rewards are all equal gets exactly 0, whatever its mean rounds
// to: reference implementations leave rounding noise divided by noise there.
func Advantages(rewards []float64, groups []string, lengths []int, opt AdvantageOptions) ([]float64, error) {
	if len(groups) != len(rewards) || len(lengths) != len(rewards) {
		return nil, fmt.Errorf("advantages: %d rewards, %d groups, %d lengths", len(rewards), len(groups), len(lengths))
	}
	for i, r := range rewards {
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return nil, fmt.Errorf("advantages: reward of row %d is %v", i, r)
		}
	}
	if opt.Epsilon == 0 {
		opt.Epsilon = 1e-6
	}
	adv := make([]float64, len(rewards))
	members := map[string][]int{}
	var order []string // deterministic: groups in first-seen order
	for i, g := range groups {
		if members[g] == nil {
			order = append(order, g)
		}
		members[g] = append(members[g], i)
	}
	switch opt.Estimator {
	case RPP:
		copy(adv, rewards)
		whiten(adv, lengths)
		return adv, nil
	case GRPO, NoStd, BatchStd, RLOO, OPO, RPPBase:
	default:
		return nil, fmt.Errorf("advantages: unknown estimator %q", opt.Estimator)
	}
	for _, g := range order {
		oneGroup(adv, rewards, lengths, members[g], opt)
	}
	switch opt.Estimator {
	case BatchStd:
		_, std := meanStd(rewards, nil)
		for i := range adv {
			adv[i] /= std + opt.Epsilon
		}
	case RPPBase:
		whiten(adv, lengths)
	}
	return adv, nil
}

// oneGroup fills the advantages of the rows in one group.
func oneGroup(adv, rewards []float64, lengths, rows []int, opt AdvantageOptions) {
	if len(rows) == 1 {
		r := 0.0
		if opt.Singleton == SingletonRaw {
			r = rewards[rows[0]]
			if opt.Estimator == GRPO {
				r /= 1 + opt.Epsilon
			}
		}
		adv[rows[0]] = r
		return
	}
	if allEqual(rewards, rows) {
		for _, i := range rows {
			adv[i] = 0
		}
		return
	}
	mean, std := meanStd(rewards, rows)
	n := float64(len(rows))
	switch opt.Estimator {
	case OPO:
		mean = lengthMean(rewards, lengths, rows)
	}
	for _, i := range rows {
		switch d := rewards[i] - mean; opt.Estimator {
		case GRPO:
			adv[i] = d / (std + opt.Epsilon)
		case RLOO:
			adv[i] = d * n / (n - 1)
		default:
			adv[i] = d
		}
	}
}

func allEqual(x []float64, rows []int) bool {
	for _, i := range rows {
		if x[i] != x[rows[0]] {
			return false
		}
	}
	return true
}

// meanStd is over the given rows, or all where rows is nil; std has n-1 and is
// 0 for a single row.
func meanStd(x []float64, rows []int) (mean, std float64) {
	at := func(k int) float64 {
		if rows == nil {
			return x[k]
		}
		return x[rows[k]]
	}
	n := len(rows)
	if rows == nil {
		n = len(x)
	}
	if n == 0 {
		return 0, 0
	}
	for k := range n {
		mean += at(k)
	}
	mean /= float64(n)
	if n == 1 {
		return mean, 0
	}
	for k := range n {
		d := at(k) - mean
		std += d * d
	}
	return mean, math.Sqrt(std / float64(n-1))
}

// lengthMean weighs each reward by its row's tokens; without any token it is
// the plain mean.
func lengthMean(x []float64, lengths, rows []int) float64 {
	sum, tokens := 0.0, 0.0
	for _, i := range rows {
		sum += x[i] * float64(lengths[i])
		tokens += float64(lengths[i])
	}
	if tokens == 0 {
		mean, _ := meanStd(x, rows)
		return mean
	}
	return sum / tokens
}

// whiten brings x to mean 0 and variance 1 over tokens: every row counts once
// for each of its tokens. It follows verl's masked_whiten, with its epsilons.
func whiten(x []float64, lengths []int) {
	const eps = 1e-8
	n, sum := 0.0, 0.0
	for i, v := range x {
		n += float64(lengths[i])
		sum += v * float64(lengths[i])
	}
	if n < 2 {
		clear(x)
		return
	}
	mean := sum / (n + eps)
	sq := 0.0
	for i, v := range x {
		sq += (v - mean) * (v - mean) * float64(lengths[i])
	}
	variance := sq / (n + eps) * n / (n - 1)
	for i := range x {
		x[i] = (x[i] - mean) / math.Sqrt(variance+eps)
	}
}
