package study

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"troupe/data"
	"troupe/data/synth"
)

// tasks are all problems of both kinds. A problem's split is a property of the
// problem itself.
func tasks() (map[data.Kind][]data.Task, error) {
	all := map[data.Kind][]data.Task{}
	for kind, set := range map[data.Kind]*synth.Set{
		data.Math: synth.Math(synth.Short, synth.Medium),
		data.Code: synth.Code(synth.Short, synth.Medium),
	} {
		for _, split := range []data.Split{data.Train, data.Dev, data.Held} {
			list, ok := set.All(split)
			if !ok || len(list) == 0 {
				return nil, fmt.Errorf("the %s tasks of split %s can't be listed", kind, split)
			}
			all[kind] = append(all[kind], list...)
		}
	}
	return all, nil
}

// tasksSum is the content hash of a list of tasks.
func tasksSum(list []data.Task) string {
	h := sha256.New()
	for _, t := range list {
		fmt.Fprintln(h, t.ID, t.Kind, t.Text, t.Gold, t.Split, t.Tests)
	}
	return hex.EncodeToString(h.Sum(nil))
}
