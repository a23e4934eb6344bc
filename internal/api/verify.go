package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"troupe/verifier/verdict"
)

// Record judges one record of the command line's `verify` and returns its
// output record and verdict; n is its place in the batch, from 1. An error is
// of the sandbox or of ctx, not of the record: a bad record has an output
// record of its own.
type Record func(ctx context.Context, n int, record json.RawMessage) (out any, code verdict.Code, err error)

// maxBatch is the largest number of records in one request.
const maxBatch = 4096

// verify answers POST /v1/verify/code and /v1/verify/math: one record, or an
// array of them judged side by side, width at once, and answered in order. The
// records are those of `troupe verify`, unknown fields and all.
func (s *Server) verify(via string, width int, judge Record) http.HandlerFunc {
	counted := func(ctx context.Context, n int, record json.RawMessage) (any, error) {
		began := time.Now()
		return caught(s, func() (any, error) {
			out, code, err := judge(ctx, n, record)
			if err == nil {
				s.metrics.judged(via, code, began)
			}
			return out, err
		})
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if !read(w, r, &body) {
			return
		}
		if len(body) == 0 || body[0] != '[' {
			out, err := counted(r.Context(), 1, body)
			if err != nil {
				s.unjudged(w, err)
				return
			}
			reply(w, http.StatusOK, out)
			return
		}
		var records []json.RawMessage
		if err := json.Unmarshal(body, &records); err != nil {
			fail(w, http.StatusBadRequest, "read the body: %v", err)
			return
		}
		if len(records) > maxBatch {
			fail(w, http.StatusRequestEntityTooLarge, "%d records; at most %d go into one request", len(records), maxBatch)
			return
		}
		out, err := judgeAll(r.Context(), width, records, counted)
		if err != nil {
			s.unjudged(w, err)
			return
		}
		reply(w, http.StatusOK, out)
	}
}

// judgeAll keeps a fixed number of records in flight; the pool's workers are
// the real limit.
func judgeAll(ctx context.Context, width int, records []json.RawMessage, judge func(context.Context, int, json.RawMessage) (any, error)) ([]any, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]any, len(records))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(len(records), width) {
		wg.Go(func() {
			for i := range next {
				v, err := judge(ctx, i+1, records[i])
				if err != nil {
					cancel(err)
				}
				out[i] = v
			}
		})
	}
feed:
	for i := range records {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return out, context.Cause(ctx)
}
