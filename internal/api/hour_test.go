//go:build browser

package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMemoryOverAnHour watches a run come in for as long as TROUPE_HOUR_S says
// (3,600 seconds are the hour it is named for): an iteration every second, its
// page open in a browser, clients that read and clients that have programs
// judged. What the server and the page hold in the last sixth of the time must be
// what they held in the second.
func TestMemoryOverAnHour(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("TROUPE_HOUR_S"))
	if err != nil {
		t.Skip("TROUPE_HOUR_S does not say for how many seconds")
	}
	w, db := openLongRun(t, 100, 1)
	opt := withPrograms(pool(t))
	opt.DB = db
	s := start(t, opt)
	p := openBrowser(t).open(t, screen{1280, 900, false})
	p.visit(s, "#/run/run0")

	ctx, stop := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
	defer stop()
	var reads, judged, failed atomic.Int64
	var clients sync.WaitGroup
	clients.Go(func() { readOverAndOver(ctx, s, &reads, &failed) })
	clients.Go(func() { runOverAndOver(ctx, s, &judged, &failed) })
	var seen []held
	sample := max(1, seconds/60)
	for n := range seconds {
		writeIteration(t, w, "run0", 0, 101+n, 1, 1)
		if n%sample == 0 {
			h := p.holds()
			seen = append(seen, h)
			t.Logf("%5d s: %d reads, %d programs; server %d MiB resident, heap %.1f MB; page %.2f MB, %d elements, %d listeners",
				n, reads.Load(), judged.Load(), h.resident, h.heap, h.page, h.nodes, h.listeners)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	stop()
	clients.Wait()
	p.waitFor(fmt.Sprintf("document.querySelector('.fact dd').textContent.startsWith('%d')", 100+seconds))
	p.quiet("an hour")
	if failed.Load() > 0 {
		t.Errorf("%d requests failed", failed.Load())
	}
	sixth := len(seen) / 6
	early, late := middle(seen[sixth:2*sixth]), middle(seen[len(seen)-sixth:])
	t.Logf("second sixth: %+v", early)
	t.Logf("last sixth:   %+v", late)
	if late.resident > early.resident+16 || late.heap > early.heap*1.25+2 || late.page > early.page*1.25+1 || late.nodes > early.nodes+200 || late.listeners > early.listeners+50 {
		t.Error("more and more memory is held")
	}
}

// held is what the server's process holds (MiB resident; MB that are live on the
// heap) and what the page does (MB of script objects, elements, listeners).
type held struct {
	resident         int
	heap, page       float64
	nodes, listeners int
}

// holds collects garbage on both sides and says what is left.
func (p *page) holds() held {
	p.t.Helper()
	var h held
	h.resident = residentMB(p.t) // before the collection below, which gives pages back
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.heap = float64(m.HeapAlloc) / 1e6
	p.call("HeapProfiler.collectGarbage", nil)
	var counted struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	p.call("Performance.getMetrics", nil, &counted)
	for _, c := range counted.Metrics {
		switch c.Name {
		case "JSHeapUsedSize":
			h.page = c.Value / 1e6
		case "JSEventListeners":
			h.listeners = int(c.Value)
		}
	}
	p.eval("document.querySelectorAll('*').length", &h.nodes)
	return h
}

// middle is the median of each quantity.
func middle(all []held) held {
	ints := func(of func(held) int) int {
		var v []int
		for _, h := range all {
			v = append(v, of(h))
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	floats := func(of func(held) float64) float64 {
		return float64(ints(func(h held) int { return int(of(h) * 1000) })) / 1000
	}
	return held{
		resident: ints(func(h held) int { return h.resident }),
		heap:     floats(func(h held) float64 { return h.heap }), page: floats(func(h held) float64 { return h.page }),
		nodes: ints(func(h held) int { return h.nodes }), listeners: ints(func(h held) int { return h.listeners }),
	}
}

// readOverAndOver asks for what a dashboard asks, ten times a second.
func readOverAndOver(ctx context.Context, s *Server, done, failed *atomic.Int64) {
	paths := []string{"/api/runs", "/api/runs/run0", "/api/runs/run0/series?metric=actor/lr", "/api/runs/run0/metrics?from=50&limit=500", "/api/runs/run0/events", "/api/grid", "/metrics"}
	for n := 0; ctx.Err() == nil; n++ {
		resp, err := http.Get("http://" + s.Addr() + paths[n%len(paths)])
		answered(resp, err, done, failed)
		time.Sleep(100 * time.Millisecond)
	}
}

// runOverAndOver has two new programs judged every second.
func runOverAndOver(ctx context.Context, s *Server, done, failed *atomic.Int64) {
	for n := 0; ctx.Err() == nil; n++ {
		body := fmt.Sprintf(`{"language":"python","code":"x = list(range(%d))\nprint(sum(x))"}`, 1000+n)
		resp, err := http.Post("http://"+s.Addr()+"/run_code", "application/json", strings.NewReader(body))
		answered(resp, err, done, failed)
		time.Sleep(500 * time.Millisecond)
	}
}

func answered(resp *http.Response, err error, done, failed *atomic.Int64) {
	done.Add(1)
	if err != nil {
		failed.Add(1)
		return
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		failed.Add(1)
	}
}
