package claudeui

import (
	"strconv"
	"strings"
	"time"

	"ccbot/internal/lazyregexp"
)

// Retry is a request to the API that has failed and will be repeated; the screen counts down to the
// repetition.
type Retry struct {
	What string        // the failure
	In   time.Duration // until the next try, when the screen was drawn
}

// retryRow replaces the spinner row: "✻ 529 Overloaded · retrying in 33s · attempt 7/10" (2.1.328).
var retryRow = lazyregexp.New(`^[✢✳✶✻✽*·] (.+) · retrying in ((?:\d{1,3}[hms] ?)+) · attempt \d+/\d+`)

// retrying reads the last thing above the box; its rows may be wrapped.
func retrying(above []line) *Retry {
	at := lastUnindented(above)
	if at < 0 {
		return nil
	}
	m := retryRow.FindStringSubmatch(strings.Join(strings.Fields(plain(above[at:])), " "))
	if m == nil {
		return nil
	}
	return &Retry{What: m[1], In: span(m[2])}
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
