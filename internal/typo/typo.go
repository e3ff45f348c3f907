// Package typo finds the word that differs from a given one by one letter.
package typo

import "unicode/utf8"

// Of returns the first of the words that a word differs from by one letter: one too many, one
// missing, another one, or two that have changed places. It is empty if there is none, and for a
// word of one letter.
func Of(word string, words []string) string {
	if utf8.RuneCountInString(word) < 2 {
		return ""
	}
	for _, w := range words {
		if w != word && near([]rune(word), []rune(w)) {
			return w
		}
	}
	return ""
}

// near reports whether two words differ by one letter.
func near(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	rest := func(a, b []rune) bool { return string(a) == string(b) }
	switch {
	case len(b) == len(a)+1:
		return rest(a[i:], b[i+1:])
	case len(a) != len(b), i == len(a):
		return false
	case rest(a[i+1:], b[i+1:]):
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && rest(a[i+2:], b[i+2:])
}
