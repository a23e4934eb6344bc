package grpo

import "fmt"

// Aggregation names the way token losses become one number.
type Aggregation string

// The aggregations, as weights of a token. B is the number of rows with at
// least one token, |o| the tokens of the row.
const (
	TokenMean        Aggregation = "token-mean"          // 1/Σ|o|; DAPO
	SeqMeanTokenMean Aggregation = "seq-mean-token-mean" // 1/(B|o|); GRPO, the study
	SeqMeanTokenSum  Aggregation = "seq-mean-token-sum"  // 1/B
	DrGRPO           Aggregation = "dr-grpo"             // 1/(rows·longest): a constant; Liu et al. 2025
)

// Aggregations lists the names a config may use.
func Aggregations() []string {
	return []string{string(TokenMean), string(SeqMeanTokenMean), string(SeqMeanTokenSum), string(DrGRPO)}
}

// WeightOptions are the switches of TokenWeights.
type WeightOptions struct {
	Aggregation Aggregation
	// CountEmpty counts rows without tokens in B, as TRL does; verl leaves them
	// out.
	CountEmpty bool
	// Longest is Dr. GRPO's constant, the largest number of tokens a row may
	// have.
	Longest int
	// Rows, when not 0, is the configured mini-batch size: the weights are then
	// those of a batch that large, so a short last mini-batch weighs less
	// instead of being renormalised (verl with dynamic micro-batches).
	Rows int
}

// TokenWeights gives the weight of one token of each row, for rows with the
// given numbers of tokens. Without any token all weights are 0.
func TokenWeights(lengths []int, opt WeightOptions) ([]float64, error) {
	rows, tokens := 0, 0
	for _, n := range lengths {
		if n > 0 || opt.CountEmpty {
			rows++
		}
		tokens += n
	}
	scale := 1.0
	if opt.Rows > 0 {
		scale = float64(len(lengths)) / float64(opt.Rows)
	}
	w := make([]float64, len(lengths))
	for i, n := range lengths {
		if n == 0 {
			continue
		}
		switch opt.Aggregation {
		case TokenMean:
			w[i] = scale / float64(tokens)
		case SeqMeanTokenMean:
			w[i] = scale / float64(rows) / float64(n)
		case SeqMeanTokenSum:
			w[i] = scale / float64(rows)
		case DrGRPO:
			if opt.Longest <= 0 {
				return nil, fmt.Errorf("aggregation %s needs the largest number of tokens a row may have", DrGRPO)
			}
			w[i] = scale / float64(len(lengths)) / float64(opt.Longest)
		default:
			return nil, fmt.Errorf("unknown aggregation %q", string(opt.Aggregation))
		}
	}
	return w, nil
}

// MiniBatch is a run of rows that make one optimizer step.
type MiniBatch struct{ From, To int }

// MiniBatches cuts n rows, in their order, into steps of size rows; the last
// may be shorter. size 0 means one step with all rows.
func MiniBatches(n, size int) []MiniBatch {
	if n == 0 {
		return nil
	}
	if size <= 0 {
		size = n
	}
	var out []MiniBatch
	for from := 0; from < n; from += size {
		out = append(out, MiniBatch{from, min(from+size, n)})
	}
	return out
}
