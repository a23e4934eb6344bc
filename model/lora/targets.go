package lora

import (
	"fmt"
	"strings"
)

// Names of tensors in a PEFT file: prefix, module, suffix.
const (
	keyPrefix = "base_model.model."
	keyA      = ".lora_A.weight"
	keyB      = ".lora_B.weight"
)

// allLinear is the target that stands for every projection.
const allLinear = "all-linear"

// matchTargets tells for each module whether a target names it: whole, or by
// an ending after a dot. A target that names nothing is an error.
func matchTargets(targets []string, base Base) ([]bool, error) {
	if len(targets) == 0 {
		return nil, fmt.Errorf("target_modules is empty")
	}
	hit := make([]bool, base.Layers*int(Projections))
	used := make([]bool, len(targets))
	for i := range hit {
		name := moduleName(i)
		for j, t := range targets {
			if t == allLinear || t == name || strings.HasSuffix(name, "."+t) {
				hit[i], used[j] = true, true
			}
		}
	}
	for j, t := range targets {
		if !used[j] {
			return nil, fmt.Errorf("target_modules names %q, which the model has no linear layer for", t)
		}
	}
	return hit, nil
}
