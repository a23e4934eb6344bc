package python

// Rate is how many ticks a guest spends on what native CPython does in one
// second: the geometric mean over twelve workloads, measured by
// BenchmarkReferenceSecond. Limits in reference seconds become fuel through it,
// so verdicts depend neither on the load nor on the machine.
func Rate(wasmSum string) (ticksPerSecond float64, known bool) {
	r, known := rates[wasmSum]
	if !known {
		return rates[pinnedWasm.SHA256], false
	}
	return r, true
}

var rates = map[string]float64{
	pinnedWasm.SHA256: 1200e6,
}
