// Package gguf writes GGUF files (version 3), the container of llama.cpp, as
// far as adapters need it: typed metadata and float32 tensors.
package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"troupe/internal/atomicfile"
)

const (
	magic     = "GGUF"
	version   = 3
	alignment = 32 // the default of general.alignment
	typeF32   = 0  // of a tensor
)

// Types of metadata values.
const (
	typeUint32  = 4
	typeFloat32 = 6
	typeString  = 8
)

// Pair is one entry of the metadata; Value is a uint32, a float32 or a string.
type Pair struct {
	Key   string
	Value any
}

// Tensor is a float32 tensor, row-major: the last dimension of Shape runs
// fastest.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// Write writes a file, whole or not at all.
func Write(path string, meta []Pair, tensors []Tensor) error {
	if err := check(tensors); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return atomicfile.Write(path, 0o644, func(out io.Writer) error {
		w := &writer{w: bufio.NewWriterSize(out, 1<<20)}
		w.bytes([]byte(magic))
		w.u32(version)
		w.u64(uint64(len(tensors)))
		w.u64(uint64(len(meta)))
		for _, p := range meta {
			w.pair(p)
		}
		at := uint64(0)
		for _, t := range tensors {
			w.tensor(t, at)
			at += padded(4 * uint64(len(t.Data)))
		}
		w.pad()
		for _, t := range tensors {
			w.floats(t.Data)
			w.pad()
		}
		if w.err != nil {
			return w.err
		}
		return w.w.Flush()
	})
}

// check refuses what a reader would misread.
func check(tensors []Tensor) error {
	seen := make(map[string]bool, len(tensors))
	for _, t := range tensors {
		n := 1
		for _, d := range t.Shape {
			n *= d
		}
		switch {
		case len(t.Name) == 0 || len(t.Name) > 63:
			return fmt.Errorf("tensor %q: a name has 1 to 63 bytes", t.Name)
		case len(t.Shape) == 0 || len(t.Shape) > 4 || n != len(t.Data):
			return fmt.Errorf("tensor %q: shape %v with %d values", t.Name, t.Shape, len(t.Data))
		case seen[t.Name]:
			return fmt.Errorf("tensor %q: twice", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

func padded(n uint64) uint64 { return (n + alignment - 1) / alignment * alignment }

// writer keeps the first error and the place in the file.
type writer struct {
	w   *bufio.Writer
	at  uint64
	err error
}

func (w *writer) bytes(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
		w.at += uint64(len(b))
	}
}

func (w *writer) u32(v uint32)    { w.bytes(binary.LittleEndian.AppendUint32(nil, v)) }
func (w *writer) u64(v uint64)    { w.bytes(binary.LittleEndian.AppendUint64(nil, v)) }
func (w *writer) string(s string) { w.u64(uint64(len(s))); w.bytes([]byte(s)) }
func (w *writer) pad()            { w.bytes(make([]byte, padded(w.at)-w.at)) }

func (w *writer) pair(p Pair) {
	w.string(p.Key)
	switch v := p.Value.(type) {
	case uint32:
		w.u32(typeUint32)
		w.u32(v)
	case float32:
		w.u32(typeFloat32)
		w.u32(math.Float32bits(v))
	case string:
		w.u32(typeString)
		w.string(v)
	default:
		if w.err == nil {
			w.err = fmt.Errorf("metadata %s: values of type %T are not written", p.Key, p.Value)
		}
	}
}

// tensor writes a tensor's entry. GGUF names the fastest dimension first.
func (w *writer) tensor(t Tensor, offset uint64) {
	w.string(t.Name)
	w.u32(uint32(len(t.Shape)))
	for i := len(t.Shape) - 1; i >= 0; i-- {
		w.u64(uint64(t.Shape[i]))
	}
	w.u32(typeF32)
	w.u64(offset)
}

func (w *writer) floats(data []float32) {
	var buf [4096]byte
	for len(data) > 0 {
		n := min(len(data), len(buf)/4)
		for i, v := range data[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(v))
		}
		w.bytes(buf[:4*n])
		data = data[n:]
	}
}
