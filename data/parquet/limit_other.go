//go:build !linux

package parquet

// limitMemory has no limit to set here that bounds the heap alone; the
// collector's aim and the bounds on footers, rows and values remain.
func limitMemory(uint64) {}
