package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
)

// Record judges one record of the command line's `verify` and returns its
// output record; n is its place in the batch, from 1. An error is of the
// sandbox, not of the record: a bad record has an output record of its own.
type Record func(ctx context.Context, n int, record json.RawMessage) (any, error)

// maxBatch is the largest number of records in one request, and maxBatchBody
// their size.
const (
	maxBatch     = 4096
	maxBatchBody = 64 << 20
)

// verify answers POST /v1/verify/code and /v1/verify/math: one record, or an
// array of them judged side by side and answered in order. The records are
// those of `troupe verify`, unknown fields and all.
func (s *Server) verify(judge Record) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if !read(w, r, &body, false) {
			return
		}
		if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '[' {
			out, err := judge(r.Context(), 1, body)
			if err != nil {
				gatewayTimeout(w, err)
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
		out, err := s.judgeAll(r.Context(), records, judge)
		if err != nil {
			gatewayTimeout(w, err)
			return
		}
		reply(w, http.StatusOK, out)
	}
}

// judgeAll keeps a fixed number of records in flight; the pool's workers are
// the real limit.
func (s *Server) judgeAll(ctx context.Context, records []json.RawMessage, judge Record) ([]any, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]any, len(records))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(len(records), s.opt.Workers+1) {
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
