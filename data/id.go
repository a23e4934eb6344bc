package data

import (
	"crypto/sha256"
	"encoding/hex"
)

// TaskID is the stable id of a task: the data set's name and 64 bits of the
// hash of the problem's text, so it depends neither on the order of a file nor
// on what else is in it.
func TaskID(set, text string) string {
	sum := sha256.Sum256([]byte(text))
	return set + "/" + hex.EncodeToString(sum[:8])
}
