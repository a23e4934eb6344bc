package trainer

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"troupe/data"
	"troupe/internal/prng"
)

// source hands out training tasks: every epoch goes through all of them in an
// order of its own, and which tasks an iteration gets depends on nothing but
// the seed and its number.
type source struct {
	seed  uint64
	tasks []data.Task
}

// draw is the batch of an iteration, from 1. What doesn't fill a batch at the
// end of an epoch waits for the next one, so no batch has a task twice.
func (s *source) draw(iteration, n int) []data.Task {
	perEpoch := len(s.tasks) / n
	epoch, place := (iteration-1)/perEpoch, (iteration-1)%perEpoch
	order := prng.Stream(s.seed, "tasks", strconv.Itoa(epoch)).Perm(len(s.tasks))
	batch := make([]data.Task, n)
	for i := range batch {
		batch[i] = s.tasks[order[place*n+i]]
	}
	return batch
}

// heldOut is one task in so many where a data set has no splits of its own.
const heldOut = 10

// splits divides tasks by their Split. Where none is marked, a tenth is held
// out by the hash of the id, so that it stays held out whatever else the file
// has.
func splits(tasks []data.Task) (train, held []data.Task) {
	marked := false
	for _, t := range tasks {
		marked = marked || t.Split != "" && t.Split != data.Train
	}
	for _, t := range tasks {
		if !marked {
			h := fnv.New64a()
			h.Write([]byte(t.ID))
			t.Split = data.Train
			if h.Sum64()%heldOut == 0 {
				t.Split = data.Held
			}
		}
		switch t.Split {
		case data.Train:
			train = append(train, t)
		case data.Held:
			held = append(held, t)
		}
	}
	return train, held
}

// distinct refuses two tasks of one id: their draws and rows would collide.
func distinct(tasks []data.Task) error {
	seen := make(map[string]bool, len(tasks))
	for _, t := range tasks {
		if t.ID == "" || seen[t.ID] {
			return fmt.Errorf("task id %q is empty or occurs twice", t.ID)
		}
		seen[t.ID] = true
	}
	return nil
}
