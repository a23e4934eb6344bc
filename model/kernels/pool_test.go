package kernels

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestHammerPoolRunsEveryItemOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		p := NewPool(workers)
		var wg sync.WaitGroup
		for g := range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for round := range 2000 {
					n := (round*7+g)%13 + 1
					var seen [13]atomic.Int32
					p.Run(n, func(w, i int) {
						if w < 0 || w >= workers {
							t.Errorf("worker %d of %d", w, workers)
						}
						seen[i].Add(1)
					})
					for i := range n {
						if c := seen[i].Load(); c != 1 {
							t.Errorf("item %d of %d ran %d times", i, n, c)
						}
					}
					if round%500 == 0 {
						time.Sleep(time.Millisecond) // let the workers park
					}
				}
			}()
		}
		wg.Wait()
		p.Close()
	}
}

func TestPoolWithoutWork(t *testing.T) {
	var p *Pool
	p.Run(0, func(int, int) { t.Error("called") })
	Default().Run(0, func(int, int) { t.Error("called") })
	p.Close()
}
