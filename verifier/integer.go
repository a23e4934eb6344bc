package verifier

import (
	"math/big"
	"regexp"

	"troupe/verifier/verdict"
)

var integer = regexp.MustCompile(`-?[0-9]+`)

// integerDigits is the longest integer that is read as a number: a reply is
// made of tokens, not of proofs.
const integerDigits = 1000

// lastInteger judges a reply by the last integer in it. A minus counts as a
// sign only where no digit stands before it ("47-38" ends with 38).
func lastInteger(gold, reply string) verdict.Verdict {
	v := verdict.Verdict{Code: verdict.WA, Reason: "last integer", Total: 1, Trust: verdict.Host}
	want, ok := new(big.Int).SetString(gold, 10)
	if !ok {
		v.Code, v.Reason = verdict.IE, "the task's answer is no integer"
		return v
	}
	found, ok := LastInteger(reply)
	if !ok {
		v.Code, v.Reason = verdict.NA, "no integer"
		return v
	}
	if len(found) > integerDigits {
		return v
	}
	if got, ok := new(big.Int).SetString(found, 10); ok && got.Cmp(want) == 0 {
		v.Code, v.Reward, v.Passed = verdict.AC, 1, 1
	}
	return v
}

// LastInteger finds the last integer that a reply writes out.
func LastInteger(reply string) (digits string, ok bool) {
	all := integer.FindAllStringIndex(reply, -1)
	if len(all) == 0 {
		return "", false
	}
	last := all[len(all)-1]
	digits = reply[last[0]:last[1]]
	if digits[0] == '-' && last[0] > 0 && reply[last[0]-1] >= '0' && reply[last[0]-1] <= '9' {
		digits = digits[1:]
	}
	return digits, true
}
