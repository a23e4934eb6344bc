//go:build browser

package api

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"troupe/data/store"
)

// view is a page of the dashboard and what it must show.
type view struct {
	name, hash string
	want       []string
}

// TestDashboardInABrowser opens every page in headless Chromium at two widths,
// in light and in dark. Each must show what it is for, keep within the screen,
// be quiet on the console, be named and readable for everyone, and be walked by
// keyboard. TROUPE_SCREENSHOTS names a folder to write pictures of the pages to,
// TROUPE_BROWSER_DB a run database to show instead of the made-up one.
func TestDashboardInABrowser(t *testing.T) {
	db, views := shown(t)
	s := start(t, Options{DB: db})
	shots, b := shotsFolder(t), openBrowser(t)
	for _, screen := range screens {
		p := b.open(t, screen)
		for _, v := range views {
			name := v.name + "-" + screen.String()
			p.visit(s, v.hash)
			p.shows(name, v.want)
			p.fits(name, screen.width)
			p.named(name)
			p.contrast(name)
			p.shoot(shots, name, screen.width, 0, 2600)
			if v.name == "run" && screen == screens[0] { // the picture of README.md
				p.shoot(shots, "dashboard", screen.width, 0, 1025)
			}
			p.quiet(name)
		}
		p.t.Logf("%v: %d pages", screen, len(views))
	}
}

var screens = []screen{{1280, 900, false}, {1280, 900, true}, {390, 844, false}, {390, 844, true}}

// shotsFolder is where pictures go, or "" if none are wanted: drawing whole pages
// without a graphics card takes most of the time of these tests.
func shotsFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TROUPE_SCREENSHOTS")
	if dir == "" {
		return ""
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// shown is a database and its views: the one of TROUPE_BROWSER_DB, or made up.
func shown(t *testing.T) (*store.DB, []view) {
	t.Helper()
	path := os.Getenv("TROUPE_BROWSER_DB")
	if path == "" {
		db := longRunLog(t, 60)
		return db, []view{
			{"runs", "#/", []string{"voting · shared · math", "running", "2 of 2 runs", "base to final"}},
			{"run", "#/run/run0", []string{"Accuracy", "Gradient norm", "fell below", "generator", "Ceiling", "Role capture", "Learning rate"}},
			{"episodes", "#/run/run0/episodes/last", []string{"accepted", "arithmetic/47+38", "boxed{1}"}},
			{"episode", "#/run/run0/episode/10/train/1/arithmetic%2F47%2B38/0", []string{"47+38 is \\boxed{85}", "<script>alert(1)</script>", "wrong answer", "− expected", "Right answer"}},
			{"grid", "#/grid", []string{"ceiling", "floor", "gain ± se", "80.0 %"}},
			{"compare", "#/compare/run0/run1", []string{"Settings that differ", "policy", "A generator", "B generator"}},
		}
	}
	db, err := store.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ids := map[string]string{}
	runs, err := db.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if ids[r.Workflow+r.Policy+r.Task] == "" {
			ids[r.Workflow+r.Policy+r.Task] = url.PathEscape(r.ID)
		}
	}
	shared, isolated := ids["votingsharedmath"], ids["votingisolatedmath"]
	code := ids["votingsharedcode"]
	views := []view{
		{"runs", "#/", []string{"voting · shared · math"}},
		{"run", "#/run/" + shared, []string{"Accuracy", "Gradient mass share", "Amplification"}},
		{"run-code", "#/run/" + code, []string{"Accuracy"}},
		{"episodes", "#/run/" + code + "/episodes/last", []string{"synth-code"}},
		{"grid", "#/grid", []string{"ceiling", "floor"}},
		{"compare", "#/compare/" + shared + "/" + isolated, []string{"Settings that differ"}},
	}
	for _, run := range []string{shared, code} {
		if v, ok := failedEpisode(t, db, run); ok {
			views = append(views, v)
		}
	}
	return db, views
}

// failedEpisode is a logged episode that was judged wrong.
func failedEpisode(t *testing.T, db *store.DB, escaped string) (view, bool) {
	t.Helper()
	run, err := url.PathUnescape(escaped)
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range []string{"train", "probe"} {
		rows, err := db.Query(t.Context(), `SELECT c.iteration, c.temperature, c.task, c.rollout FROM calls c
			JOIN verdicts v ON v.run = c.run AND v.iteration = c.iteration AND v.split = c.split AND v.temperature = c.temperature
				AND v.task = c.task AND v.rollout = c.rollout AND v.role = ''
			WHERE c.run = :run AND c.split = '`+split+`' AND v.code = 'WA' AND v.cached = 0 ORDER BY c.iteration DESC LIMIT 1`, run)
		if err != nil {
			t.Fatal(err)
		}
		v := rows.Next()
		rows.Close()
		if v != nil {
			task := v[2].(string)
			at := []string{"#/run", escaped, "episode", str(v[0]), split, str(v[1]), url.PathEscape(task), str(v[3])}
			return view{"episode-" + task[:strings.IndexByte(task+"-", '-')+5], strings.Join(at, "/"), []string{"Conversation", "wrong answer"}}, true
		}
	}
	return view{}, false
}

// TestDashboardByKeyboard walks through the pages with the tab key: every
// control is reached, in the order in which it stands, with a mark that shows
// where one is, and works.
func TestDashboardByKeyboard(t *testing.T) {
	s := start(t, Options{DB: longRunLog(t, 60)})
	p := openBrowser(t).open(t, screen{1280, 900, false})
	for _, hash := range []string{"#/", "#/run/run0", "#/grid", "#/compare/run0/run1", "#/run/run0/episodes/10", "#/run/run0/episode/10/train/1/arithmetic%2F47%2B38/0"} {
		p.visit(s, hash)
		p.walk(hash)
	}
	// The skip link leads to the content, and a run's link to the run.
	p.visit(s, "#/")
	p.press("Tab", 9, "")
	p.press("Enter", 13, "\r")
	p.waitFor("document.activeElement.id === 'main'")
	p.visit(s, "#/")
	p.eval("document.querySelector('tbody a').focus()", nil)
	p.press("Enter", 13, "\r")
	p.waitFor("document.querySelector('h1') && document.querySelector('h1').textContent.includes('voting') && document.activeElement.id === 'main'")
	// The values behind a chart open by keyboard.
	p.eval("document.querySelector('figure summary').focus()", nil)
	p.press("Enter", 13, "\r")
	p.waitFor("document.querySelector('figure table tbody tr')")
	p.quiet("keyboard")
}

// firstPaint is how many milliseconds a page may take to show something.
const firstPaint = 300

// TestDashboardPaintsALongRun measures how soon a run of 100,000 metric rows is
// seen, and that watching it takes no more and more memory.
func TestDashboardPaintsALongRun(t *testing.T) {
	const iterations = 1500
	w, db := openLongRun(t, iterations, 34)
	s := start(t, Options{DB: db})
	p := openBrowser(t).open(t, screen{1280, 900, false})
	best := paint{First: 1e9, Curves: 1e9}
	// Other programs may hold a processor for a while: what counts is the best of
	// five loads, or of more where none of five met the bound.
	for n, until := 0, time.Now().Add(time.Minute); n < 5 || best.First > firstPaint && time.Now().Before(until); n++ {
		p.visit(s, "#/run/run0")
		var now paint
		p.eval(`({first: performance.getEntriesByName("first-contentful-paint")[0].startTime, curves: performance.getEntriesByName("drawn")[0].startTime})`, &now)
		best = paint{min(best.First, now.First), min(best.Curves, now.Curves)}
	}
	rows, err := db.Query(t.Context(), "SELECT (SELECT count(*) FROM steps) + (SELECT count(*) FROM role_steps)", "")
	if err != nil {
		t.Fatal(err)
	}
	count := rows.Next()[0].(int64)
	rows.Close()
	t.Logf("%d metric rows: first paint after %.0f ms, curves after %.0f ms", count, best.First, best.Curves)
	if count < 100_000 || best.First > firstPaint {
		t.Errorf("%d rows, first paint after %.0f ms, want 100,000 and %d ms", count, best.First, firstPaint)
	}
	watch := func(from, to int) (heap float64, nodes int) {
		for i := from; i < to; i++ {
			writeIteration(t, w, "run0", 0, i, 34, 1)
		}
		p.waitFor("document.querySelector('.fact dd').textContent.startsWith('" + str(int64(to-1)) + "')")
		time.Sleep(500 * time.Millisecond)
		p.call("HeapProfiler.collectGarbage", nil)
		p.eval("performance.memory.usedJSHeapSize", &heap)
		p.eval("document.querySelectorAll('*').length", &nodes)
		return heap / 1e6, nodes
	}
	before, nodesBefore := watch(iterations, iterations+700)
	after, nodesAfter := watch(iterations+700, iterations+2100)
	t.Logf("watching: %.1f MB and %d elements, 1,400 iterations later %.1f MB and %d", before, nodesBefore, after, nodesAfter)
	if after > before*1.25+1 || nodesAfter > nodesBefore+200 {
		t.Error("watching a run takes more and more memory")
	}
	p.quiet("long run")
}

type paint struct{ First, Curves float64 }
