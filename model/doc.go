// Package model runs and trains Qwen3-shaped language models (Qwen3, Qwen2,
// Llama) on the CPU: loading, forward, backward, scoring and sampling. It
// knows nothing of workflows or rewards.
//
// # Notation
//
// Rows are tokens: a batch is ragged, the rows of its sequences stand one
// after the other without padding, and R is their number. H is the hidden
// size, F the inner size of the MLP, V the vocabulary, Nq and Nkv the numbers
// of query and key/value heads, D the size of a head. A weight [N, K] is
// row-major as in the checkpoint, y = x·Wᵀ.
//
// # One result per row
//
// What a row gives depends on its own sequence only, never on the batch it is
// computed in: every sum has one defined order (see package kernels). So the
// log-probabilities of the sampler and of the trainer are equal bit for bit,
// and with unchanged weights every ratio of the policy gradient is exactly 1.
package model
