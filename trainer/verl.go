package trainer

import (
	"fmt"
	"strconv"
)

// verlKey says what a setting of verl is called here. scale turns its value
// into ours where they count in other units.
type verlKey struct {
	key   string
	scale func(c *Config, value string) (string, error)
}

// verlKeys are the settings of verl that exist here, by verl's dotted names,
// so that a command line of theirs can be used as it is.
var verlKeys = map[string]verlKey{
	"data.train_files":                                         {key: "data"},
	"data.train_batch_size":                                    {key: "tasks"},
	"data.max_response_length":                                 {key: "max-tokens"},
	"data.seed":                                                {key: "seed"},
	"actor_rollout_ref.model.path":                             {key: "model"},
	"actor_rollout_ref.model.lora_rank":                        {key: "rank"},
	"actor_rollout_ref.model.lora_alpha":                       {key: "alpha"},
	"actor_rollout_ref.rollout.n":                              {key: "rollouts"},
	"actor_rollout_ref.rollout.temperature":                    {key: "temperature"},
	"actor_rollout_ref.actor.ppo_mini_batch_size":              {key: "minibatch", scale: timesRollouts},
	"actor_rollout_ref.actor.ppo_epochs":                       {key: "epochs"},
	"actor_rollout_ref.actor.clip_ratio_low":                   {key: "loss.clip-low"},
	"actor_rollout_ref.actor.clip_ratio_high":                  {key: "loss.clip-high"},
	"actor_rollout_ref.actor.clip_ratio_c":                     {key: "loss.dual-clip"},
	"actor_rollout_ref.actor.loss_agg_mode":                    {key: "loss.aggregation"},
	"actor_rollout_ref.actor.entropy_coeff":                    {key: "loss.entropy"},
	"actor_rollout_ref.actor.grad_clip":                        {key: "clip"},
	"actor_rollout_ref.actor.optim.lr":                         {key: "lr"},
	"actor_rollout_ref.actor.optim.lr_warmup_steps":            {key: "lr.warmup"},
	"actor_rollout_ref.actor.optim.warmup_style":               {key: "lr.schedule"},
	"actor_rollout_ref.actor.optim.weight_decay":               {key: "adam.decay"},
	"algorithm.adv_estimator":                                  {key: "grpo.estimator"},
	"algorithm.norm_adv_by_std_in_grpo":                        {key: "grpo.estimator", scale: stdSwitch},
	"algorithm.filter_groups.enable":                           {key: "sampling.dynamic"},
	"algorithm.filter_groups.max_num_gen_batches":              {key: "sampling.generations"},
	"trainer.total_training_steps":                             {key: "iterations"},
	"trainer.test_freq":                                        {key: "eval.every"},
	"trainer.save_freq":                                        {key: "checkpoint.every"},
	"trainer.share_policy":                                     {key: "policy", scale: sharedSwitch},
	"trainer.default_local_dir":                                {key: "out"},
	"actor_rollout_ref.actor.policy_loss.loss_mode":            {key: "loss", scale: lossName},
	"reward_model.overlong_buffer.len":                         {key: "overlong.buffer"},
	"reward_model.overlong_buffer.penalty_factor":              {key: "overlong.penalty"},
	"actor_rollout_ref.rollout.response_length":                {key: "max-tokens"},
	"actor_rollout_ref.actor.optim.lr_scheduler_type":          {key: "lr.schedule"},
	"actor_rollout_ref.actor.optim.total_training_steps":       {key: "lr.total"},
	"actor_rollout_ref.actor.optim.betas":                      {key: "adam.beta1", scale: refuse("set adam.beta1 and adam.beta2")},
	"actor_rollout_ref.rollout.val_kwargs.temperature":         {key: "temperature", scale: refuse("evaluation uses the training temperature, and greedy with eval.greedy")},
	"actor_rollout_ref.actor.use_kl_loss":                      {key: "anchor", scale: refuse("set anchor.ROLE to the coefficient")},
	"algorithm.use_kl_in_reward":                               {key: "anchor", scale: refuse("there is no KL in the reward here")},
	"actor_rollout_ref.actor.kl_loss_coef":                     {key: "anchor", scale: refuse("set anchor.ROLE to the coefficient")},
	"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu":     {key: "minibatch", scale: refuse("micro-batches don't change results here; there is nothing to set")},
	"actor_rollout_ref.actor.ppo_max_token_len_per_gpu":        {key: "minibatch", scale: refuse("micro-batches don't change results here; there is nothing to set")},
	"actor_rollout_ref.rollout.log_prob_micro_batch_size":      {key: "minibatch", scale: refuse("old log-probabilities need no pass of their own here")},
	"actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu": {key: "minibatch", scale: refuse("old log-probabilities need no pass of their own here")},
}

func (c *Config) setVerl(k verlKey, value string) error {
	if k.scale != nil {
		var err error
		if value, err = k.scale(c, value); err != nil {
			return fmt.Errorf("%s: %w", k.key, err)
		}
	}
	return c.Set(k.key, value)
}

// verl counts mini-batches in prompts and multiplies by the rollouts.
func timesRollouts(c *Config, value string) (string, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return "", fmt.Errorf("%q is not a whole number", value)
	}
	return strconv.Itoa(n * c.Rollouts), nil
}

func stdSwitch(_ *Config, value string) (string, error) {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return "", fmt.Errorf("%q is neither true nor false", value)
	}
	if on {
		return "grpo", nil
	}
	return "no-std", nil
}

func sharedSwitch(_ *Config, value string) (string, error) {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return "", fmt.Errorf("%q is neither true nor false", value)
	}
	if on {
		return "shared", nil
	}
	return "isolated", nil
}

func lossName(_ *Config, value string) (string, error) {
	switch value {
	case "vanilla":
		return "ppo", nil
	case "gpg":
		return "reinforce", nil
	}
	return value, nil
}

func refuse(why string) func(*Config, string) (string, error) {
	return func(*Config, string) (string, error) { return "", fmt.Errorf("%s", why) }
}
