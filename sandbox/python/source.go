// Package python is the CPython guest of the sandbox: it finds and checks the
// interpreter's files, prepares them once (rewritten, compiled, frozen after
// the usual modules are loaded) and runs one program after another in a guest
// that is rewound before each.
package python

// Source says where the guest comes from. The zero value is the pinned guest:
// from the cache, or fetched into it.
type Source struct {
	Wasm string // path of a CPython for WASI; empty: the pinned one
	Lib  string // its standard library: a .zip, a .tar.gz of /usr/local, or a folder
}
