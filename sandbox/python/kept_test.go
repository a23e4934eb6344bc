package python

import "testing"

// What is kept of compiled programs is bounded by number and by size.
func TestKeptProgramsAreBounded(t *testing.T) {
	g := &Guest{codes: map[[32]byte]*code{}}
	for i := range 3 * keptCodes {
		for _, c := range []*code{{bytes: make([]byte, 1<<20)}, {failed: &End{Stderr: make([]byte, 1<<20)}}, {warnings: []byte("w")}} {
			g.keep([32]byte{byte(i), byte(i >> 8), byte(len(c.warnings)), byte(len(c.bytes) >> 20)}, c)
			sum := 0
			for _, k := range g.codes {
				sum += len(k.bytes) + len(k.warnings)
				if k.failed != nil {
					sum += len(k.failed.Stderr)
				}
			}
			if sum != g.kept || sum > keptBytes || len(g.codes) > keptCodes {
				t.Fatalf("%d programs of %d bytes are kept, counted as %d", len(g.codes), sum, g.kept)
			}
		}
	}
}
