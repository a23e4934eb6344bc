// Package study is the paper's study at a size that two cores finish in
// minutes: tiny Qwen3-shaped models of its own, two tasks (sums of two-digit
// numbers; Python programs from three examples), a supervised warm start that
// stops as soon as the models are right often enough to learn from, and the
// grid of workflows and policies trained from there.
//
// Its prompts are the ordinary ones of trainer/workflow. What makes it cheap is
// the tokenizer: every fixed phrase of a prompt or of a reply is one added
// token, so sequences stay below a hundred tokens. What failed on the way to
// these constants is told in docs/rationale.md.
package study
