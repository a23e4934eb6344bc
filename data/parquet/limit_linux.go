package parquet

import "golang.org/x/sys/unix"

// limitMemory bounds all writable memory of this process: a hostile file ends
// it instead of the machine.
func limitMemory(bytes uint64) {
	_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes})
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}
