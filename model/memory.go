package model

// MatrixParameters is the number of parameters in products: the seven
// projections of every layer and the head. The embedding is only looked up.
func (c *Config) MatrixParameters() int {
	z := c.sizes()
	layer := z.hidden*z.qkv + z.q*z.hidden + 3*z.hidden*z.inner
	return c.Layers*layer + c.Vocab*c.Hidden
}

// KVBytes is the memory of keys and values for n positions of one sequence.
func (c *Config) KVBytes(n int) int64 {
	return int64(c.Layers) * int64(8*c.KVHeads*c.HeadDim) * int64((n+31)&^31)
}

// HeadBytes is the memory of logits in training on replies of up to n tokens.
// budget is LoadOptions.ActivationBytes.
func (c *Config) HeadBytes(n int, budget int64) int64 {
	const chunk = 64 << 20
	if budget <= 0 {
		budget = defaultActivations
	}
	return max(chunk, min(4*int64(n)*int64(c.Vocab), chunk+budget/keptLogits))
}

// trainingRows is the number of rows of a large model's chunk: as many as fit
// the budget without recomputing.
func (c *Config) trainingRows(rank int, budget int64) int {
	return max(1, min(largeRows, int(budget/c.rowBytes(rank, c.Layers))))
}

// TrainingBytes is the memory of activations of Backward for many sequences of
// longest tokens, as many in a chunk as fit, and whether layers are recomputed.
// budget is LoadOptions.ActivationBytes.
func (c *Config) TrainingBytes(longest, rank int, budget int64) (bytes int64, recompute bool) {
	if budget <= 0 {
		budget = defaultActivations
	}
	if c.Parameters() <= smallModel {
		return int64(smallRows) * c.rowBytes(rank, c.Layers), false
	}
	rows := c.trainingRows(rank, budget)
	if longest = max(1, longest); longest <= rows {
		return int64(rows-rows%longest) * c.rowBytes(rank, c.Layers), false
	}
	kept := c.keptLayers(longest, rank, budget)
	return int64(longest) * c.rowBytes(rank, kept), kept < c.Layers
}
