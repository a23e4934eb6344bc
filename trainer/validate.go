package trainer

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"troupe/data"
	"troupe/trainer/grpo"
	"troupe/trainer/optim"
)

// Validate names the first setting that can't be.
func (c *Config) Validate() error {
	for _, check := range []func() error{
		c.checkNumbers, c.checkChoices, c.checkCounts, c.checkRanges, c.adam().Validate, c.schedule().Validate, c.loss().Validate,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	_, err := c.Time()
	return err
}

// checkNumbers refuses what no setting can be: a count below 0, and a number
// that is not finite, which would pass every comparison.
func (c *Config) checkNumbers() error {
	s := reflect.ValueOf(c).Elem()
	for i := range s.NumField() {
		f, key := s.Field(i), s.Type().Field(i).Tag.Get("key")
		if f.Kind() != reflect.Map {
			if err := checkNumber(key, f); err != nil {
				return err
			}
			continue
		}
		for role, v := range f.Seq2() {
			if err := checkNumber(key+"."+role.String(), v); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkNumber(key string, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.Int && v.Int() < 0:
		return fmt.Errorf("%s: %d is below 0", key, v.Int())
	case v.Kind() == reflect.Float64 && !optim.Finite(v.Float()):
		return fmt.Errorf("%s: %v is not a finite number", key, v.Float())
	}
	return nil
}

// checkChoices refuses words that are none of a setting's.
func (c *Config) checkChoices() error {
	for _, choice := range []struct {
		key, value string
		of         []string
	}{
		{"params", c.Params, []string{"lora", "full"}},
		{"orch.overflow", c.OrchOverflow, []string{"truncate", "end"}},
		{"lr.step", c.LRStep, []string{"iteration", "call"}},
		{"lr.schedule", c.LRSchedule, optim.Shapes()},
		{"grpo.estimator", c.Estimator, grpo.Estimators()},
		{"grpo.group", c.Grouping, grpo.Groupings()},
		{"grpo.singleton", c.Singleton, []string{"zero", "raw"}},
		{"loss", c.Loss, grpo.Kinds()},
		{"loss.aggregation", c.Aggregation, grpo.Aggregations()},
		{"minibatch.partial", c.MiniBatchPartial, []string{"renormalise", "downweight"}},
		{"minibatch.order", c.MiniBatchOrder, []string{"rows", "shuffle", "length"}},
		{"overlong", c.Overlong, []string{"keep", "drop", "full"}},
		{"eval.split", c.EvalSplit, []string{string(data.Held), string(data.Dev)}},
	} {
		if !slices.Contains(choice.of, choice.value) {
			return fmt.Errorf("%s: %q is none of %v", choice.key, choice.value, choice.of)
		}
	}
	for _, role := range slices.Sorted(maps.Keys(c.Estimators)) {
		if name := c.Estimators[role]; !slices.Contains(grpo.Estimators(), name) {
			return fmt.Errorf("grpo.estimators.%s: %q is none of %v", role, name, grpo.Estimators())
		}
	}
	if n, err := strconv.Atoi(c.LogCalls); c.LogCalls != "all" && c.LogCalls != "none" && c.LogCalls != "" && (err != nil || n < 1) {
		return fmt.Errorf("log-calls: %q is neither all nor none nor a number of iterations", c.LogCalls)
	}
	return nil
}

// checkCounts refuses counts of 0 where there must be one.
func (c *Config) checkCounts() error {
	type count struct {
		key   string
		value int
	}
	counts := []count{
		{"iterations", c.Iterations}, {"tasks", c.Tasks}, {"rollouts", c.Rollouts}, {"max-tokens", c.MaxTokens},
		{"epochs", c.Epochs}, {"checkpoint.every", c.CheckpointEvery},
	}
	if c.Params == "lora" {
		counts = append(counts, count{"rank", c.Rank})
	}
	for _, role := range slices.Sorted(maps.Keys(c.RoleTokens)) {
		counts = append(counts, count{"role-tokens." + role, c.RoleTokens[role]})
	}
	for _, n := range counts {
		if n.value < 1 {
			return fmt.Errorf("%s: %d is less than 1", n.key, n.value)
		}
	}
	return nil
}

// checkRanges refuses numbers that a setting can't have, alone or beside
// another.
func (c *Config) checkRanges() error {
	type number struct {
		key   string
		value float64
	}
	numbers := []number{
		{"clip", c.Clip}, {"grpo.epsilon", c.AdvEpsilon}, {"overlong.penalty", c.OverlongPenalty},
		{"coherence.lambda", c.CoherenceLambda}, {"loss.clamp", c.Clamp},
	}
	for _, role := range slices.Sorted(maps.Keys(c.Anchor)) {
		numbers = append(numbers, number{"anchor." + role, c.Anchor[role]})
	}
	for _, n := range numbers {
		if n.value < 0 {
			return fmt.Errorf("%s: %v is below 0", n.key, n.value)
		}
	}
	switch {
	case c.Ends > c.Iterations:
		return fmt.Errorf("ends: %d is no iteration of %d", c.Ends, c.Iterations)
	case c.OverlongPenalty > 0 && c.OverlongBuffer < 1:
		return fmt.Errorf("overlong.penalty: it needs overlong.buffer, the tokens before the limit that are punished")
	case !(c.Temperature > 0):
		return fmt.Errorf("temperature: %v can't be trained at; it must be above 0", c.Temperature)
	case float32(c.Temperature) == 0 || math.IsInf(1/float64(float32(c.Temperature)), 0):
		return fmt.Errorf("temperature: %v is too small to divide by", c.Temperature)
	case c.Params == "lora" && !(c.Alpha > 0):
		return fmt.Errorf("alpha: %v is not above 0", c.Alpha)
	case c.CoherenceLambda > 0 && c.CoherenceWindow < 1:
		return fmt.Errorf("coherence.window: %v is less than one step", c.CoherenceWindow)
	}
	return nil
}
