package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.gguf")
	err := Write(path,
		[]Pair{{"general.type", "adapter"}, {"adapter.lora.alpha", float32(4)}, {"n", uint32(7)}},
		[]Tensor{{"a", []int{1, 3}, []float32{1, 2, 3}}, {"b", []int{2}, []float32{-1, 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	str := func(s string) string { return string(le.AppendUint64(nil, uint64(len(s)))) + s }
	u32 := func(v uint32) string { return string(le.AppendUint32(nil, v)) }
	u64 := func(v uint64) string { return string(le.AppendUint64(nil, v)) }
	f32 := func(v float32) string { return u32(math.Float32bits(v)) }
	want := "GGUF" + u32(3) + u64(2) + u64(3) +
		str("general.type") + u32(8) + str("adapter") +
		str("adapter.lora.alpha") + u32(6) + f32(4) +
		str("n") + u32(4) + u32(7) +
		str("a") + u32(2) + u64(3) + u64(1) + u32(0) + u64(0) +
		str("b") + u32(1) + u64(2) + u32(0) + u64(32)
	want += strings.Repeat("\x00", (32-len(want)%32)%32)
	want += f32(1) + f32(2) + f32(3) + strings.Repeat("\x00", 20) + f32(-1) + f32(0.5) + strings.Repeat("\x00", 24)
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("file\n%q\nwant\n%q", got, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 64)
	for name, c := range map[string]struct {
		meta    []Pair
		tensors []Tensor
		want    string
	}{
		"type":  {[]Pair{{"k", 3}}, nil, "type int"},
		"name":  {nil, []Tensor{{long, []int{1}, []float32{1}}}, "1 to 63 bytes"},
		"shape": {nil, []Tensor{{"a", []int{2}, []float32{1}}}, "shape [2] with 1 values"},
		"twice": {nil, []Tensor{{"a", []int{1}, []float32{1}}, {"a", []int{1}, []float32{1}}}, "twice"},
	} {
		path := filepath.Join(dir, name)
		if err := Write(path, c.meta, c.tensors); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file was left", name)
		}
	}
}
