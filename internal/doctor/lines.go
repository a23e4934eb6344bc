package doctor

import "fmt"

// Lines is the forecast for people.
func (f Forecast) Lines() []string {
	p, m := f.Plan, f.Memory
	verdict := "fits"
	if !f.Fits {
		verdict = "does NOT fit"
	}
	out := []string{
		row("plan", "%s, %s, %s, %d tasks of %d rollouts, %d iterations, prompts of %d tokens, replies of %d (at most %d)",
			p.Workflow, p.Policy, p.Kind, p.Tasks, p.Rollouts, p.Iterations, p.PromptTokens, p.ReplyTokens, p.MaxTokens),
		row("calibrated", "%.0f tokens/s sampled, %.0f read, %.0f trained (%.1f s)", f.Decode, f.Prefill, f.Train, f.CalibratedS),
		row("iteration", "%s: %s of rollouts (%d tokens sampled), %s of training (%d tokens)",
			duration(f.RolloutS+f.TrainS), duration(f.RolloutS), f.Sampled, duration(f.TrainS), f.Trained),
		row("run", "%.1f hours, judging not counted", f.RunHours),
		row("peak memory", "%s of %s available: %s", size(m.Total()), size(f.Available), verdict),
		row("", "weights %s, for the backward %s, trained state %s, activations %s, keys and values %s, logits %s, rest %s",
			size(m.Weights), size(m.Transposed), size(m.Adapters), size(m.Activations), size(m.KV), size(m.Head), size(m.Rest)),
	}
	if f.Recomputes {
		out = append(out, row("", "sequences of this length are partly recomputed, which costs up to a third more training time"))
	}
	return out
}

// duration is seconds for people.
func duration(s int) string {
	switch {
	case s >= 2*3600:
		return fmt.Sprintf("%.1f h", float64(s)/3600)
	case s >= 120:
		return fmt.Sprintf("%.0f min", float64(s)/60)
	}
	return fmt.Sprintf("%d s", s)
}
