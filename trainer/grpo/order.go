package grpo

import "slices"

// LengthBalanced is the order in which verl lines up rows before it cuts
// mini-batches: by length, the even places ascending, then the odd places
// descending, so lengths run short, long, short. lengths are whole sequences,
// prompt and answer. It matters because shared-policy mini-batches become
// stratified by role.
func LengthBalanced(lengths []int) []int {
	work := func(i int) int { return 24576*lengths[i] + lengths[i]*lengths[i] }
	sorted := make([]int, len(lengths))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int {
		if d := work(a) - work(b); d != 0 {
			return d
		}
		return a - b
	})
	order := make([]int, 0, len(sorted))
	for i := 0; i < len(sorted); i += 2 {
		order = append(order, sorted[i])
	}
	last := len(sorted) - 1
	if last%2 == 0 {
		last--
	}
	for i := last; i > 0; i -= 2 {
		order = append(order, sorted[i])
	}
	return order
}
