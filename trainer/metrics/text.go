package metrics

import "slices"

// CopyRate is the length of the longest run of tokens that a reply has in common
// with one of the texts before it, as a share of the reply. 0 for an empty one.
func CopyRate(reply []int32, before ...[]int32) float64 {
	if len(reply) == 0 {
		return 0
	}
	// Every part of a shared run is shared: halve the lengths that could be.
	low, high := 0, len(reply)
	for low < high {
		n := (low + high + 1) / 2
		if shares(reply, before, n) {
			low = n
		} else {
			high = n - 1
		}
	}
	return float64(low) / float64(len(reply))
}

// shares reports whether a run of n tokens of the reply stands in some text.
func shares(reply []int32, before [][]int32, n int) bool {
	at := map[uint64][]int{}
	eachRun(reply, n, func(i int, sum uint64) bool {
		at[sum] = append(at[sum], i)
		return false
	})
	for _, text := range before {
		found := eachRun(text, n, func(j int, sum uint64) bool {
			return slices.ContainsFunc(at[sum], func(i int) bool { return slices.Equal(reply[i:i+n], text[j:j+n]) })
		})
		if found {
			return true
		}
	}
	return false
}

// runBase is the odd multiplier of the rolling hash.
const runBase = 0x9e3779b97f4a7c15

// eachRun hands out every run of n tokens with a hash of it, until do says that
// it is enough.
func eachRun(ids []int32, n int, do func(at int, sum uint64) bool) bool {
	if n == 0 || len(ids) < n {
		return false
	}
	sum, lead := uint64(0), uint64(1)
	for i, id := range ids {
		sum = sum*runBase + uint64(id) + 1
		if i >= n {
			sum -= lead * runBase * (uint64(ids[i-n]) + 1)
		} else if i > 0 {
			lead *= runBase
		}
		if i >= n-1 && do(i-n+1, sum) {
			return true
		}
	}
	return false
}

// Distinct is the share of different ones among all runs of n tokens in the
// replies; ok is false where there are none.
func Distinct(replies [][]int32, n int) (share float64, ok bool) {
	seen := map[string]bool{}
	all := 0
	key := make([]byte, 0, 4*n)
	for _, ids := range replies {
		for i := 0; i+n <= len(ids); i++ {
			key = key[:0]
			for _, id := range ids[i : i+n] {
				key = append(key, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
			}
			seen[string(key)] = true
			all++
		}
	}
	if all == 0 {
		return 0, false
	}
	return float64(len(seen)) / float64(all), true
}
