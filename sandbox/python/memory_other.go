//go:build !unix

package python

// reserve takes memory from Go's heap, which commits it: less than elsewhere.
func reserve() ([]byte, error) { return make([]byte, 1536<<20), nil }

func discard(b []byte) { clear(b) }
