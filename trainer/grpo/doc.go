// Package grpo has the arithmetic of group-relative policy optimisation:
// advantages from rewards, losses and their gradients from log-probabilities,
// masks for truncated rows, filters for groups that teach nothing. All of it is
// pure functions on slices of numbers; nothing here knows a model.
//
// Formulas follow Shao et al. 2024 (GRPO, arXiv 2402.03300), Yu et al. 2025
// (DAPO, 2503.14476), Liu et al. 2025 (Dr. GRPO, 2503.20783), Zheng et al. 2025
// (GSPO, 2507.18071), MiniMax 2025 (CISPO, 2506.13585), Ahmadian et al. 2024
// (RLOO, 2402.14740), Hu et al. 2025 (REINFORCE++, 2501.03262) and Ye et al.
// 2020 (dual clip, 1912.09729). Values are checked against verl 0.6.1 and TRL
// 1.16.0 by the golden tests; where those two differ, each function says which
// it follows.
package grpo
