package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldenBad is the folder of corrupted checkpoints, or a skip.
func goldenBad(t *testing.T) string {
	dir := filepath.Join(os.Getenv("TROUPE_GOLDEN"), "bad")
	if os.Getenv("TROUPE_GOLDEN") == "" {
		dir = filepath.Join("..", "testdata", "bad")
	}
	if _, err := os.Stat(filepath.Join(dir, "cases.json")); err != nil {
		t.Skip("no golden/bad: set TROUPE_GOLDEN")
	}
	return dir
}

func TestGoldenBadContainersAreRefused(t *testing.T) {
	dir := goldenBad(t)
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Case, Level, Fault string }
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Level != "container" && c.Level != "index" {
			continue
		}
		t.Run(c.Case, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(dir, c.Case)); err != nil {
				t.Skipf("no golden folder bad/%s", c.Case)
			}
			ck, err := OpenCheckpoint(filepath.Join(dir, c.Case))
			if err == nil {
				ck.Close()
				t.Fatalf("opened, although: %s", c.Fault)
			}
			if !strings.Contains(err.Error(), c.Case) {
				t.Errorf("the error does not name the file: %v", err)
			}
			// In case 20 every norm has the fault, and another stands first.
			if name, _, _ := strings.Cut(c.Fault, ": "); strings.HasSuffix(name, ".weight") && c.Case != "20-fractional-dimension" && !strings.Contains(err.Error(), name) {
				t.Errorf("the error does not name %q: %v", name, err)
			}
		})
	}
}

func TestWrittenFilesReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	data := []float32{1, -2.5, 0, float32(math.Copysign(0, -1)), 1e-40, 3.0e38}
	err := WriteFile(path, map[string]string{"format": "pt"}, []Entry{
		{"a", F32, []int{2, 3}, data}, {"b", BF16, []int{6}, data}, {"empty", F32, []int{0, 3}, nil}, {"one", F32, nil, data[:1]},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, mapped := range []bool{true, false} {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if !mapped {
			unmapFile(f.mapped)
			f.mapped = nil
		}
		if fmt.Sprint(f.Names()) != "[a b empty one]" || f.Metadata["format"] != "pt" {
			t.Errorf("names %v, metadata %v", f.Names(), f.Metadata)
		}
		got := make([]float32, 6)
		if err := f.ReadF32("a", got); err != nil {
			t.Fatal(err)
		}
		for i := range data {
			if math.Float32bits(got[i]) != math.Float32bits(data[i]) {
				t.Errorf("a[%d] = %v, want %v", i, got[i], data[i])
			}
		}
		half := make([]uint16, 6)
		if err := f.ReadBF16("b", half); err != nil {
			t.Fatal(err)
		}
		for i := range data {
			if half[i] != F32ToBF16(data[i]) {
				t.Errorf("b[%d] = %#x, want %#x", i, half[i], F32ToBF16(data[i]))
			}
		}
		if tn, _ := f.Tensor("a"); tn.Offset%8 != 0 {
			t.Errorf("first tensor at %d, not aligned", tn.Offset)
		}
		if err := f.ReadF32("a", got[:5]); err == nil {
			t.Error("a read with the wrong length")
		}
		if err := f.ReadBF16("a", half); err == nil {
			t.Error("F32 read as BF16")
		}
		f.Close()
	}
}

func TestNothingNonFiniteIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	for _, d := range []DType{F32, BF16} {
		for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			err := WriteFile(path, nil, []Entry{{"a", d, []int{2}, []float32{0, v}}})
			if err == nil || !strings.Contains(err.Error(), `"a"`) {
				t.Errorf("%s %v: error %v", d, v, err)
			}
		}
	}
	if err := WriteFile(path, nil, []Entry{{"a", BF16, []int{1}, []float32{math.MaxFloat32}}}); err == nil {
		t.Error("a value that rounds to infinity was written")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused file was left behind")
	}
}

func TestHalfPrecisionWidensExactly(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x0001: 1.0 / (1 << 24), 0x03ff: 1023.0 / (1 << 24),
		0x0400: 1.0 / (1 << 14), 0x7bff: 65504, 0x3555: 0.333251953125,
	} {
		if got := f16ToF32(bits); float64(got) != want {
			t.Errorf("%#04x = %v, want %v", bits, got, want)
		}
	}
	if !math.IsInf(float64(f16ToF32(0xfc00)), -1) || f16ToF32(0x7e00) == f16ToF32(0x7e00) {
		t.Error("infinity or NaN lost")
	}
}

func TestBF16RoundsToNearestEven(t *testing.T) {
	for in, want := range map[uint32]uint16{
		0x3f800000: 0x3f80, 0x3f808000: 0x3f80, 0x3f818000: 0x3f82, 0x3f808001: 0x3f81, 0x3f807fff: 0x3f80,
		0x7f7fffff: 0x7f80, 0x7f800000: 0x7f80, 0x7f800001: 0x7fc0, 0x80000000: 0x8000,
	} {
		if got := F32ToBF16(math.Float32frombits(in)); got != want {
			t.Errorf("%#08x -> %#04x, want %#04x", in, got, want)
		}
	}
}

func TestEveryValueThatIsNotFiniteIsFound(t *testing.T) {
	for n := 1; n < 12; n++ {
		for at := -1; at < n; at++ {
			for _, v := range []uint16{0x7f80, 0xff80, 0x7fc0, 0xffff, 0x7f7f, 0x8000} {
				src := bytes.Repeat([]byte{0x7f, 0xff}, n) // -1.7e38
				for i := range n {
					src[2*i], src[2*i+1] = 0x7f, 0xff
				}
				if at >= 0 {
					src[2*at], src[2*at+1] = byte(v), byte(v>>8)
				}
				dst := make([]uint16, n)
				if ok, want := copyBF16(dst, src), at < 0 || v&0x7f80 != 0x7f80; ok != want {
					t.Fatalf("%d values, %#x at %d: finite %v", n, v, at, ok)
				}
				if at >= 0 && dst[at] != v {
					t.Fatalf("%#x came out as %#x", v, dst[at])
				}
			}
		}
	}
}

func FuzzHeader(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, map[string]string{"k": "v"}, []Entry{{"a", F32, []int{2}, []float32{1, 2}}, {"b", BF16, []int{1, 1}, []float32{3}}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	for _, s := range []string{
		`{}`, `[]`, `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}0000`, `{"a":{"dtype":"F4","shape":[1],"data_offsets":[0,0]}}`,
		`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, `{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`,
	} {
		f.Add(append([]byte{byte(len(s)), 0, 0, 0, 0, 0, 0, 0}, s...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := readHeader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		covered := int64(0)
		for _, tn := range h.tensors {
			if tn.Offset < 8 || tn.Offset+tn.Bytes > int64(len(data)) || tn.Elements() < 0 {
				t.Fatalf("accepted %+v in %d bytes", tn, len(data))
			}
			covered += tn.Bytes
		}
		if covered > int64(len(data)) {
			t.Fatalf("%d bytes of tensors in a file of %d", covered, len(data))
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"weight_map":{"a":"model-1.safetensors"}}`))
	f.Add([]byte(`{"weight_map":{"a":"../x"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseIndex(data)
		for _, s := range m {
			if err == nil && (!filepath.IsLocal(s) || strings.Contains(s, "/")) {
				t.Fatalf("accepted shard %q", s)
			}
		}
	})
}
