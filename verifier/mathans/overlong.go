package mathans

// Overlong is DAPO's soft penalty on long replies, added to the correctness
// reward: 0 up to limit-buffer tokens, then falling linearly to -factor at
// limit. It is not clamped below, as replies are cut at the limit. A buffer of
// zero or less switches it off.
func Overlong(length, limit, buffer int, factor float64) float64 {
	if buffer <= 0 {
		return 0
	}
	exceed := length - (limit - buffer)
	if exceed <= 0 {
		return 0
	}
	return -float64(exceed) / float64(buffer) * factor
}
