package safetensors

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"troupe/internal/atomicfile"
)

// Entry is a tensor to be written; DType is F32 or BF16 (rounded to nearest,
// ties to even).
type Entry struct {
	Name  string
	DType DType
	Shape []int
	Data  []float32
}

// WriteFile writes the tensors in the given order to path, atomically. A value
// that is not finite, before or after rounding, is refused and leaves path as
// it was.
func WriteFile(path string, metadata map[string]string, entries []Entry) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		return Write(w, metadata, entries)
	})
}

// Write is WriteFile into any writer.
func Write(w io.Writer, metadata map[string]string, entries []Entry) error {
	head, err := encodeHeader(metadata, entries)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(len(head)))
	out.Write(b[:])
	out.Write(head)
	for _, e := range entries {
		if err := writeValues(out, e); err != nil {
			return err
		}
	}
	return out.Flush()
}

// check tells what is wrong with an entry.
func (e *Entry) check() error {
	if n := (Tensor{Shape: e.Shape}).Elements(); n != len(e.Data) {
		return fmt.Errorf("tensor %q: shape %v, but %d values", e.Name, e.Shape, len(e.Data))
	}
	if e.DType != F32 && e.DType != BF16 {
		return fmt.Errorf("tensor %q: dtype %q can't be written (F32 and BF16 can)", e.Name, e.DType)
	}
	return nil
}

func encodeHeader(metadata map[string]string, entries []Entry) ([]byte, error) {
	type entry struct {
		DType   DType    `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	head := []byte{'{'}
	add := func(key string, v any) error {
		k, err := json.Marshal(key)
		if err != nil {
			return err
		}
		t, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if len(head) > 1 {
			head = append(head, ',')
		}
		head = append(append(append(head, k...), ':'), t...)
		return nil
	}
	if len(metadata) > 0 {
		if err := add("__metadata__", metadata); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{"__metadata__": true}
	at := int64(0)
	for _, e := range entries {
		if seen[e.Name] {
			return nil, fmt.Errorf("tensor %q: the name is taken", e.Name)
		}
		seen[e.Name] = true
		if err := e.check(); err != nil {
			return nil, err
		}
		end := at + int64(len(e.Data))*int64(bitsOf[e.DType]/8)
		shape := slices.Clone(e.Shape)
		if shape == nil {
			shape = []int{}
		}
		if err := add(e.Name, entry{e.DType, shape, [2]int64{at, end}}); err != nil {
			return nil, err
		}
		at = end
	}
	head = append(head, '}')
	// Blanks align the first tensor, as the format asks.
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	return head, nil
}

func writeValues(out *bufio.Writer, e Entry) error {
	var b [4]byte
	for i, v := range e.Data {
		if e.DType == F32 {
			bits := math.Float32bits(v)
			if bits&0x7f800000 == 0x7f800000 {
				return fmt.Errorf("tensor %q: element %d is %v, which is never saved", e.Name, i, v)
			}
			binary.LittleEndian.PutUint32(b[:], bits)
			out.Write(b[:4])
			continue
		}
		h := F32ToBF16(v)
		if h&0x7f80 == 0x7f80 {
			return fmt.Errorf("tensor %q: element %d is %v, not finite as bf16, and never saved", e.Name, i, v)
		}
		binary.LittleEndian.PutUint16(b[:], h)
		out.Write(b[:2])
	}
	return nil
}
