package mathans

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// testdata/dapo.jsonl has scores of the reference scorer.
func TestDAPOScores(t *testing.T) {
	f, err := os.Open("testdata/dapo.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var c struct {
			Gold, Reply, Pred string
			Version           DAPOVersion
			Score             float64
		}
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if got := DAPO(c.Gold, c.Reply, c.Version); got.Score != c.Score || got.Pred != c.Pred {
			t.Errorf("DAPO(%q, %q, %d) = %v %q, want %v %q", c.Gold, c.Reply, c.Version, got.Score, got.Pred, c.Score, c.Pred)
		}
	}
	if n < 200 {
		t.Errorf("only %d scores", n)
	}
}

func TestOverlong(t *testing.T) {
	for _, c := range []struct {
		length, limit, buffer int
		factor, want          float64
	}{
		{0, 20480, 4096, 1, 0},
		{16384, 20480, 4096, 1, 0},
		{16385, 20480, 4096, 1, -1.0 / 4096},
		{18432, 20480, 4096, 1, -0.5},
		{20480, 20480, 4096, 1, -1},
		{20480, 20480, 4096, 0.5, -0.5},
		{20480, 20480, 0, 1, 0},
	} {
		if got := Overlong(c.length, c.limit, c.buffer, c.factor); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("Overlong(%d, %d, %d, %v) = %v, want %v", c.length, c.limit, c.buffer, c.factor, got, c.want)
		}
	}
}
