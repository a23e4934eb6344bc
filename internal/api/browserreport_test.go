//go:build browser

package api

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"troupe/data/report"
)

// TestReportInABrowser looks at the report as at the dashboard's pages.
func TestReportInABrowser(t *testing.T) {
	db, _ := shown(t)
	r, err := report.Load(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.HTML(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	shots, b := shotsFolder(t), openBrowser(t)
	for _, screen := range screens {
		p := b.open(t, screen)
		p.call("Page.navigate", map[string]any{"url": "file://" + path})
		p.waitFor("location.protocol === 'file:' && document.readyState === 'complete'")
		name := "report-" + screen.String()
		p.fits(name, screen.width)
		p.named(name)
		p.contrast(name)
		var empty int
		p.eval(`[...document.querySelectorAll(".panels svg")].filter(s => s.querySelectorAll("path").length < 3 || s.getBoundingClientRect().height < 60).length`, &empty)
		if empty > 0 {
			t.Errorf("%s: %d drawings are empty", name, empty)
		}
		const part = 3000
		for i := range 6 {
			if !p.shoot(shots, fmt.Sprintf("%s-%d", name, i), screen.width, i*part, part) {
				break
			}
		}
		p.quiet(name)
	}
}
