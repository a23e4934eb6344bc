//go:build !linux || troupe_fallback

package sandbox

import "runtime"

// harden does nothing where there is no Linux; the WebAssembly engine and the
// process boundary stand alone there.
func harden() (missing []string) {
	return []string{"no_new_privs, rlimits, landlock and seccomp are not available on " + runtime.GOOS}
}
