package python

import (
	"fmt"
	"reflect"

	"github.com/tetratelabs/wazero/api"
)

const page = 65536

// memory is the linear memory of a guest: address space reserved once, so that
// growing costs nothing but the pages that are touched.
type memory struct {
	space   []byte
	start   uint64 // length to begin with, at least what the module wants
	size    uint64
	max     uint64
	refused bool
}

func newMemory(start uint64) (*memory, error) {
	space, err := reserve()
	if err != nil {
		return nil, fmt.Errorf("reserve memory for a guest: %w", err)
	}
	return &memory{space: space, start: start, max: uint64(len(space))}, nil
}

// Reallocate gives the memory its next length, or nil where the limit is.
func (m *memory) Reallocate(size uint64) []byte {
	if size < m.start && m.size == 0 {
		size = m.start
	}
	if size > m.max {
		m.refused = true
		return nil
	}
	m.size = size
	return m.space[:size:size]
}

// Free keeps the address space: a guest lives as long as its process.
func (m *memory) Free() {}

// shrink sets a grown memory back to size. wazero has no call for it, but
// MemoryInstance.Buffer is exported and Grow makes the engine reload it.
func (m *memory) shrink(mem api.Memory, size uint64) error {
	if m.size == size {
		return nil
	}
	buffer := reflect.ValueOf(mem).Elem().FieldByName("Buffer")
	if !buffer.IsValid() || !buffer.CanSet() {
		return fmt.Errorf("rewind memory: the engine's memory has no Buffer")
	}
	buffer.SetBytes(m.space[: size-page : size-page])
	if _, ok := mem.Grow(1); !ok {
		return fmt.Errorf("rewind memory: growing to %d bytes failed", size)
	}
	return nil
}
