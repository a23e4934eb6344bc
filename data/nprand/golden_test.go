package nprand

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"troupe/internal/golden"
)

// The golden numbers are NumPy's own.

// order is how the golden files tell an order of rows.
type order struct {
	First20, Last20, Full []int
	SHA256                string
}

func (o order) check(t *testing.T, what string, got []int) {
	t.Helper()
	h := sha256.New()
	for _, v := range got {
		binary.Write(h, binary.LittleEndian, int64(v))
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != o.SHA256 {
		t.Errorf("%s: sha256 %s, want %s", what, sum, o.SHA256)
	}
	if n := len(o.First20); !slices.Equal(got[:n], o.First20) || !slices.Equal(got[len(got)-n:], o.Last20) {
		t.Errorf("%s: starts %v, want %v", what, got[:n], o.First20)
	}
	if o.Full != nil && !slices.Equal(got, o.Full) {
		t.Errorf("%s: another order", what)
	}
}

func words(s string) []uint32 {
	n, _ := new(big.Int).SetString(s, 10)
	var w []uint32
	for mask := big.NewInt(1<<32 - 1); n.Sign() > 0; n.Rsh(n, 32) {
		w = append(w, uint32(new(big.Int).And(n, mask).Uint64()))
	}
	if w == nil {
		w = []uint32{0}
	}
	return w
}

func TestGoldenSeedSequence(t *testing.T) {
	var file struct {
		Sequences []struct {
			Entropy json.RawMessage
			State32 []uint32
			Pool    []uint32
			Spawn   []struct {
				SpawnKey []uint32 `json:"spawn_key"`
				State32  []uint32
			}
		}
	}
	golden.JSON(t, &file, "numpy", "seedsequence.json")
	for _, s := range file.Sequences {
		var text string
		var list []json.Number
		var entropy []uint32
		if json.Unmarshal(s.Entropy, &text) != nil {
			t.Fatal(string(s.Entropy))
		}
		if json.Unmarshal([]byte(text), &list) == nil {
			for _, v := range list {
				entropy = append(entropy, words(v.String())...)
			}
		} else {
			entropy = words(text)
		}
		got := newSeedSequence(entropy)
		if !slices.Equal(got.pool[:], s.Pool) || !slices.Equal(got.state(8), s.State32) {
			t.Errorf("entropy %s: pool %v, want %v", text, got.pool, s.Pool)
		}
		for _, child := range s.Spawn {
			padded := append(slices.Clone(entropy), make([]uint32, max(0, 4-len(entropy)))...)
			if got := newSeedSequence(append(padded, child.SpawnKey...)).state(8); !slices.Equal(got, child.State32) {
				t.Errorf("entropy %s, child %v: %v, want %v", text, child.SpawnKey, got, child.State32)
			}
		}
	}
	if len(file.Sequences) == 0 {
		t.Error("no sequences")
	}
}

func TestGoldenPCG64(t *testing.T) {
	var file struct {
		Generators []struct {
			Seed       uint64
			State, Inc string
			Raw        []uint64
			Uint32     []uint32
			Random     []float64
		}
		Many []struct {
			Seed uint64
			Ops  []struct {
				Op     string
				N      int
				Result json.RawMessage
			}
		} `json:"one_generator_many_calls"`
	}
	golden.JSON(t, &file, "numpy", "pcg64.json")
	for _, c := range file.Generators {
		g := New(c.Seed)
		if s, inc := fmt.Sprintf("%016x%016x", g.hi, g.lo), fmt.Sprintf("%016x%016x", g.incHi, g.incLo); s != c.State || inc != c.Inc {
			t.Errorf("seed %d: state %s inc %s, want %s %s", c.Seed, s, inc, c.State, c.Inc)
		}
		for i, want := range c.Raw {
			if got := g.Uint64(); got != want {
				t.Errorf("seed %d: output %d is %d, want %d", c.Seed, i, got, want)
			}
		}
		g = New(c.Seed)
		for i, want := range c.Uint32 {
			if got := g.Uint32(); got != want {
				t.Errorf("seed %d: 32-bit output %d is %d, want %d", c.Seed, i, got, want)
			}
		}
		g = New(c.Seed)
		for i, want := range c.Random {
			if got := g.Float64(); got != want {
				t.Errorf("seed %d: random %d is %v, want %v", c.Seed, i, got, want)
			}
		}
	}
	for _, c := range file.Many {
		g := New(c.Seed)
		for i, op := range c.Ops {
			var got any
			switch op.Op {
			case "permutation":
				got = g.Permutation(op.N)
			case "random":
				got = g.Float64()
			case "integers":
				got = g.Integer(uint64(op.N))
			}
			b, _ := json.Marshal(got)
			var a, w any
			json.Unmarshal(b, &a)
			json.Unmarshal(op.Result, &w)
			if fmt.Sprint(a) != fmt.Sprint(w) {
				t.Errorf("seed %d, call %d %s: %s, want %s", c.Seed, i, op.Op, b, op.Result)
			}
		}
	}
	if len(file.Generators) == 0 || len(file.Many) == 0 {
		t.Error("no generators")
	}
}

func TestGoldenIntegers(t *testing.T) {
	var file struct {
		Int64 []struct {
			Seed, N        uint64
			Lemire         []uint64
			MaskedInterval []uint64 `json:"masked_interval"`
		}
	}
	golden.JSON(t, &file, "numpy", "integers.json")
	for _, c := range file.Int64 {
		g, m := New(c.Seed), New(c.Seed)
		for i := range c.Lemire {
			if got := g.Integer(c.N); got != c.Lemire[i] {
				t.Errorf("seed %d: integer %d below %d is %d, want %d", c.Seed, i, c.N, got, c.Lemire[i])
			}
			if got := m.interval(c.N - 1); got != c.MaskedInterval[i] {
				t.Errorf("seed %d: masked %d up to %d is %d, want %d", c.Seed, i, c.N-1, got, c.MaskedInterval[i])
			}
		}
	}
	if len(file.Int64) == 0 {
		t.Error("no integers")
	}
}

func TestGoldenPermutations(t *testing.T) {
	var file struct {
		Permutation []struct {
			Seed uint64
			N    int
			order
		}
	}
	golden.JSON(t, &file, "numpy", "permutation.json")
	for _, c := range file.Permutation {
		c.check(t, fmt.Sprintf("permutation(%d), seed %d", c.N, c.Seed), New(c.Seed).Permutation(c.N))
	}
	if len(file.Permutation) == 0 {
		t.Error("no permutations")
	}
}

func TestGoldenDatasets(t *testing.T) {
	var file struct {
		Split []struct {
			N           int
			Seed        uint64
			TestSize    float64 `json:"test_size"`
			NTest       int     `json:"n_test"`
			NTrain      int     `json:"n_train"`
			Test, Train order
		} `json:"train_test_split"`
		Shuffle []struct {
			N    int
			Seed uint64
			order
		}
	}
	golden.JSON(t, &file, "numpy", "datasets.json")
	paper := false
	for _, c := range file.Split {
		if c.TestSize >= 1 {
			continue // a number of rows, which the paper does not use
		}
		train, test, err := Split(c.N, c.TestSize, c.Seed)
		if err != nil || len(test) != c.NTest || len(train) != c.NTrain {
			t.Errorf("split of %d: %d and %d rows, want %d and %d, error %v", c.N, len(train), len(test), c.NTrain, c.NTest, err)
			continue
		}
		what := fmt.Sprintf("split of %d by %v", c.N, c.TestSize)
		c.Test.check(t, what+", test", test)
		c.Train.check(t, what+", train", train)
		paper = paper || c.Seed == 42 && c.TestSize == 0.1 && c.NTest == 1412
	}
	if !paper {
		t.Error("the paper's split of 1,412 test problems is not among the cases")
	}
	for _, c := range file.Shuffle {
		c.check(t, fmt.Sprintf("shuffle of %d", c.N), Shuffled(c.N, c.Seed))
	}
	for _, bad := range []float64{0, 1, -1} {
		if _, _, err := Split(10, bad, 1); err == nil {
			t.Errorf("no error for a share of %v", bad)
		}
	}
}
