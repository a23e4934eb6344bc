package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"troupe/model/kernels"
)

// Requests that come while others are in work get what they get in one batch,
// whether their prompt is in use already or not.
func TestServeTakesRequestsAsTheyCome(t *testing.T) {
	cfg := tinyConfig()
	base := randomModel(t, cfg, 5)
	for _, workers := range []int{1, 2, 3} {
		m := base.Clone()
		m.pool = kernels.NewPool(workers)
		d := m.NewDecoder(DecoderOptions{Slots: 5, KVBytes: 1 << 18})
		rng := rand.New(rand.NewPCG(1, uint64(workers)))
		joined := 0
		for range 30 {
			var reqs []GenRequest
			for range 3 {
				reqs = append(reqs, randomRequests(rng, cfg.Vocab)...)
			}
			rng.Shuffle(len(reqs), func(i, j int) { reqs[i], reqs[j] = reqs[j], reqs[i] })
			want, err := d.Generate(context.Background(), reqs)
			if err != nil {
				t.Fatal(err)
			}
			next, calls := 0, 0
			more := func(idle bool) ([]GenRequest, error) {
				calls++
				n := min(rng.IntN(4), len(reqs)-next)
				if idle {
					n = min(max(n, 1), len(reqs)-next)
				}
				next += n
				return reqs[next-n : next], nil
			}
			var mu sync.Mutex
			got := make([]GenResult, len(reqs))
			if err := d.Serve(context.Background(), more, func(n int, r GenResult) {
				mu.Lock()
				defer mu.Unlock()
				if got[n].Finish != "" {
					t.Errorf("request %d was finished twice", n)
				}
				got[n] = r
			}); err != nil {
				t.Fatal(err)
			}
			if calls > 3 {
				joined++
			}
			for i := range want {
				if !slices.Equal(got[i].IDs, want[i].IDs) || !sameBits(got[i].LogProbs, want[i].LogProbs) || got[i].Finish != want[i].Finish {
					t.Fatalf("%d workers, request %d: %v, in one batch %v", workers, i, got[i], want[i])
				}
			}
		}
		if joined == 0 {
			t.Error("all requests were there from the beginning: the test shows nothing")
		}
		m.pool.Close()
	}
}

func TestServeEndsWithTheErrorOfItsSource(t *testing.T) {
	m := randomModel(t, tinyConfig(), 1)
	broken := errors.New("no more")
	calls := 0
	err := m.NewDecoder(DecoderOptions{}).Serve(context.Background(), func(bool) ([]GenRequest, error) {
		if calls++; calls > 3 {
			return nil, broken
		}
		return []GenRequest{{Prompt: []int32{1}, MaxTokens: 20, Temperature: 1}}, nil
	}, func(int, GenResult) {})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
