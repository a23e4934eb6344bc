// Package nearest finds the word that a mistyped one most likely means.
package nearest

// Word is the known word with the smallest edit distance to word, the first of
// several; "" if none is near enough to be what was meant.
func Word(word string, known []string) string {
	best, at := "", len(word)/2+2
	for _, k := range known {
		if d := distance(word, k); d < at {
			best, at = k, d
		}
	}
	return best
}

// distance is Levenshtein's distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
