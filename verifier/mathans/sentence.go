package mathans

import "strings"

// links are the words after which a sentence gives its value.
var links = []string{" is equal to ", " are equal to ", " equals ", " is ", " are ", " that ", " get ", " be ", " have ", " obtain ", " is: ", ": "}

// predicate takes the value out of a sentence: "The sum is $42$" gives 42. A
// sentence that negates or hedges gives nothing.
func predicate(s string) (string, bool) {
	before, rest := "", ""
	for _, link := range links {
		if i := strings.LastIndex(s, link); i > len(before)-1 && i > 0 {
			before, rest = s[:i], s[i+len(link):]
		}
	}
	rest = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "."))
	if rest == "" || !hasWord(before) || !prose(before) || !assertive(before) {
		return "", false
	}
	if open := rest[0]; open == '$' {
		end := strings.IndexByte(rest[1:], '$')
		if end < 0 {
			return "", false
		}
		tail := rest[end+2:]
		if strings.ContainsAny(tail, "$0123456789") || !assertive(tail) {
			return "", false
		}
		return rest[1 : end+1], true
	}
	return rest, bareValue(rest)
}

// prose reports whether a text is words, perhaps with single letters in
// formulas, and no numbers.
func prose(s string) bool {
	return len(s) < 200 && !strings.ContainsAny(s, `0123456789=<>\`)
}

// assertive reports whether no word of a text negates or hedges. The words that
// link a sentence to its value do not count.
func assertive(s string) bool {
	for _, w := range strings.Fields(strings.ToLower(s)) {
		w = strings.Trim(w, ".,;:!?$()")
		if doubts[w] && w != "is" && w != "are" && w != "was" && w != "since" && w != "to" && w != "than" {
			return false
		}
	}
	return true
}
