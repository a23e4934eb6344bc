//go:build race

package sandbox

// raceEnabled: the race detector makes a worker several times as large.
const raceEnabled = true
