// Package trainer trains the parameters behind a workflow's roles by
// group-relative policy optimisation. The whole algorithm is Trainer.Run:
//
//	sample -> rollout -> verify -> advantage -> loss -> update -> log -> checkpoint
//
// Nothing in it draws from a shared stream and no sum depends on the number of
// threads, so a run is a function of its config: killed at any moment and
// started again, it ends with the same weights and the same rows.
package trainer
