// Package safetensors reads and writes the safetensors container: eight bytes
// with the header's length, a JSON header that names every tensor, then the
// tensors' bytes without holes.
//
// A file is untrusted. Every length, offset, shape and type in it is checked
// against the file's size before anything of that size is allocated, and every
// fault names the file, the tensor and the place. Numbers that are not finite
// are refused too: a weight that is NaN spoils a run long after it was loaded.
package safetensors

import (
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

// maxHeader is the format's own limit on the header's length.
const maxHeader = 100_000_000

// DType is an element type as the header spells it.
type DType string

// The element types a weight can have here. The format knows more; they are
// recognised, so that their size can be checked, but never read as weights.
const (
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
)

// bitsOf holds the size of every element type of the format.
var bitsOf = map[DType]uint64{
	"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E8M0": 8, "F8_E5M2": 8, "F8_E4M3": 8,
	"BOOL": 8, "U8": 8, "I8": 8, "I16": 16, "U16": 16, F16: 16, BF16: 16,
	"I32": 32, "U32": 32, F32: 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}

// Error is a fault of a file: which file, which tensor (if one is to blame),
// where in the file (-1 if nowhere in particular) and what is wrong.
type Error struct {
	File, Tensor string
	Offset       int64
	Fault        string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Tensor != "" {
		fmt.Fprintf(&b, ": tensor %q", e.Tensor)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, ": offset %d", e.Offset)
	}
	b.WriteString(": ")
	b.WriteString(e.Fault)
	return b.String()
}

// Tensor is one entry of a header.
type Tensor struct {
	Name  string
	DType DType
	Shape []int
	// Offset and Bytes say where the tensor's bytes stand in the file.
	Offset, Bytes int64
}

// Elements is the product of the shape; 1 for a scalar.
func (t Tensor) Elements() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// File is an open safetensors file. It may be read from several goroutines.
type File struct {
	Path     string
	Metadata map[string]string
	tensors  map[string]Tensor
	names    []string // in the order of their bytes
	size     int64
	mapped   []byte // nil where the file could not be mapped
	f        *os.File
}

// Open reads and checks the header of the file at path.
func Open(path string) (*File, error) {
	// To open a pipe is to wait for whoever writes to it.
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, &Error{File: path, Offset: -1, Fault: "not a regular file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	out, err := open(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	return out, nil
}

func open(f *os.File, path string) (*File, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head, err := readHeader(f, st.Size())
	if err != nil {
		return nil, inFile(err, path)
	}
	out := &File{Path: path, size: st.Size(), f: f, Metadata: head.metadata, tensors: map[string]Tensor{}}
	for _, t := range head.tensors {
		out.tensors[t.Name] = t
		out.names = append(out.names, t.Name)
	}
	out.mapped = mapFile(f, st.Size())
	return out, nil
}

// Close gives the file back. Tensors already read stay valid.
func (f *File) Close() error {
	unmapFile(f.mapped)
	f.mapped = nil
	return f.f.Close()
}

// Names lists the tensors in the order of their bytes.
func (f *File) Names() []string { return f.names }

// Tensor finds an entry by name.
func (f *File) Tensor(name string) (Tensor, bool) {
	t, ok := f.tensors[name]
	return t, ok
}

// inFile puts the file's name into an Error that was made without it.
func inFile(err error, path string) error {
	if e, ok := err.(*Error); ok {
		e.File = path
		return e
	}
	return fmt.Errorf("%s: %w", path, err)
}

// bytes gives n bytes at off, mapped where possible, else read into buf.
func (f *File) bytes(off, n int64, buf []byte) ([]byte, error) {
	if f.mapped != nil {
		return f.mapped[off : off+n], nil
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := f.f.ReadAt(buf, off); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, &Error{File: f.Path, Offset: off, Fault: err.Error()}
	}
	return buf, nil
}

// sortByOffset puts tensors into the order of their bytes; empty ones first
// where several begin at one place.
func sortByOffset(ts []Tensor) {
	sort.Slice(ts, func(i, j int) bool {
		a, b := ts[i], ts[j]
		if a.Offset != b.Offset {
			return a.Offset < b.Offset
		}
		if a.Bytes != b.Bytes {
			return a.Bytes < b.Bytes
		}
		return a.Name < b.Name
	})
}
