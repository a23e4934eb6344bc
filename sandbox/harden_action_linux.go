//go:build linux && !troupe_fallback

package sandbox

import seccomp "github.com/elastic/go-seccomp-bpf"

// refused is what happens at a system call that a worker has no use for: the
// process ends, and its parent starts another.
const refused = seccomp.ActionKillProcess
