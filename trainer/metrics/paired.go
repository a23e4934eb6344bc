package metrics

import (
	"math"
	"math/big"
	"slices"

	"troupe/internal/prng"
)

// Discordant counts the tasks on which two runs differ: right only before, and
// right only after.
func Discordant(before, after []bool) (onlyBefore, onlyAfter int) {
	for i := range before {
		switch {
		case before[i] && !after[i]:
			onlyBefore++
		case after[i] && !before[i]:
			onlyAfter++
		}
	}
	return onlyBefore, onlyAfter
}

// McNemar is the exact two-sided p of McNemar's test, min(1, 2P(X ≤ min)) with
// X binomial over the discordant tasks, and the mid-p variant.
func McNemar(onlyFirst, onlySecond int) (exact, mid float64) {
	n, k := onlyFirst+onlySecond, min(onlyFirst, onlySecond)
	if n == 0 {
		return 1, 1
	}
	// Exact integers: C(n,i) overflows float64 from n = 1030 on.
	term, tail := big.NewInt(1), new(big.Int)
	for i := 0; ; i++ {
		tail.Add(tail, term)
		if i == k {
			break
		}
		term.Mul(term, big.NewInt(int64(n-i)))
		term.Quo(term, big.NewInt(int64(i+1)))
	}
	cdf, at := overPower2(tail, n), overPower2(term, n)
	return min(1, 2*cdf), min(1, 2*cdf-at)
}

// overPower2 is x/2ⁿ, rounded once.
func overPower2(x *big.Int, n int) float64 {
	f := new(big.Float).SetInt(x)
	f.SetMantExp(f, -n)
	v, _ := f.Float64()
	return v
}

// Bootstrap is a paired bootstrap of the mean difference after - before.
type Bootstrap struct {
	Mean      float64
	SE        float64
	Low, High float64 // 2.5 % and 97.5 % quantiles
	PAtMost0  float64 // share of resamples with a difference of 0 or less
	PAtLeast0 float64 // and of 0 or more: where both have 0, they overlap
}

// P is the two-sided p that the difference is 0; no smaller than what n
// resamples can show.
func (b Bootstrap) P(n int) float64 {
	return min(1, 2*max(1/float64(n), min(b.PAtMost0, b.PAtLeast0)))
}

// PairedBootstrap resamples tasks n times, from one difference a task; the
// draws are a function of seed.
func PairedBootstrap(differences []float64, n int, seed uint64) Bootstrap {
	b := Bootstrap{Mean: Mean(differences)}
	if len(differences) == 0 || n == 0 {
		return b
	}
	rng := prng.Stream(seed, "paired bootstrap")
	means := make([]float64, n)
	for k := range means {
		sum := 0.0
		for range differences {
			sum += differences[rng.IntN(len(differences))]
		}
		means[k] = sum / float64(len(differences))
		b.SE += (means[k] - b.Mean) * (means[k] - b.Mean)
		if means[k] <= 0 {
			b.PAtMost0 += 1 / float64(n)
		}
		if means[k] >= 0 {
			b.PAtLeast0 += 1 / float64(n)
		}
	}
	b.SE = math.Sqrt(b.SE / float64(n))
	slices.Sort(means)
	b.Low, b.High = quantile(means, 0.025), quantile(means, 0.975)
	return b
}

// quantile is the smallest value of a sorted slice with a share of at least q
// at or below it.
func quantile(sorted []float64, q float64) float64 {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(0, min(i, len(sorted)-1))]
}

// Differences are after - before for each task, as numbers.
func Differences(before, after []bool) []float64 {
	d := make([]float64, len(before))
	for i := range d {
		d[i] = float64(toInt(after[i]) - toInt(before[i]))
	}
	return d
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// PassAtK is the unbiased estimate 1 - C(n-c,k)/C(n,k) of the chance that one of
// k samples is right, from c right ones among n (Chen et al. 2021).
func PassAtK(n, c, k int) float64 {
	if n-c < k {
		return 1
	}
	miss := 1.0
	for i := n - c + 1; i <= n; i++ {
		miss *= 1 - float64(k)/float64(i)
	}
	return 1 - miss
}

// Majority is the index of the vote that wins; the answer seen first wins a
// tie. An empty answer votes like any other.
func Majority(votes []string) int {
	count, first := map[string]int{}, map[string]int{}
	for i, v := range votes {
		if _, seen := first[v]; !seen {
			first[v] = i
		}
		count[v]++
	}
	best := -1
	for i, v := range votes {
		if first[v] == i && (best < 0 || count[v] > count[votes[best]]) {
			best = i
		}
	}
	return best
}

// Wilson is the score interval of a proportion for a normal quantile z.
func Wilson(right, n int, z float64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	p, m := float64(right)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, mid-half), min(1, mid+half)
}
