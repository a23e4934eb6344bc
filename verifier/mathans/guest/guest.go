//go:build !wasip1

// Package guest holds the math engine as a WASI module, to be run in the
// sandbox: the package mathans and the Go runtime, compiled for wasip1. The
// module is committed so that a plain go build gives a whole program; go
// generate makes it anew, and a test proves that it is what the sources give.
package guest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"
)

//go:generate go run gen.go

//go:embed mathans.wasm.gz
var packed []byte

//go:embed mathans.sum
var sum string

// Wasm is the module.
var Wasm = sync.OnceValues(func() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("embedded math guest: %w", err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("embedded math guest: %w", err)
	}
	return b, nil
})

// Sum gives what the module was built from: the hash of its sources, the
// toolchain, and the module's own hash, by the names sources, toolchain, wasm.
func Sum(name string) string {
	for line := range strings.Lines(sum) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && k == name {
			return v
		}
	}
	return ""
}
