package claudeui

import (
	"strconv"
	"strings"
	"time"

	"ccbot/internal/lazyregexp"
)

// retryRow replaces the spinner row: "✻ 529 Overloaded · retrying in 33s · attempt 7/10" (2.1.328).
var retryRow = lazyregexp.New(`^[✢✳✶✻✽*·] (.+) · retrying in ((?:\d{1,3}[hms] ?)+) · attempt \d+/\d+`)

// retrying returns the failure of a request that will be repeated, and the time until then. It
// reads the last thing above the box; its rows may be wrapped.
func retrying(above []line) (failure string, in time.Duration) {
	at := lastUnindented(above)
	if at < 0 {
		return "", 0
	}
	m := retryRow.FindStringSubmatch(strings.Join(strings.Fields(plain(above[at:])), " "))
	if m == nil {
		return "", 0
	}
	return m[1], span(m[2])
}

// span reads "1m 5s".
func span(text string) (d time.Duration) {
	units := map[byte]time.Duration{'h': time.Hour, 'm': time.Minute, 's': time.Second}
	for word := range strings.FieldsSeq(text) {
		n, _ := strconv.Atoi(word[:len(word)-1])
		d += time.Duration(n) * units[word[len(word)-1]]
	}
	return d
}
