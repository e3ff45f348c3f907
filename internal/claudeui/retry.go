package claudeui

import (
	"regexp"
	"strings"
	"time"
)

// Retry is a request to the API that has failed and will be repeated; the screen counts down to the
// repetition.
type Retry struct {
	What string        // what has failed
	In   time.Duration // until the next try, when the screen was drawn
}

// retryRow stands in the place of the spinner row: "✻ 529 Overloaded · retrying in 33s · attempt
// 7/10" (2.1.328).
var retryRow = regexp.MustCompile(`^[✢✳✶✻✽*·] (.+) · retrying in ((?:\d{1,3}[hms] ?)+) · attempt \d+/\d+`)

// retrying reads the last thing above the box; its rows may be wrapped.
func retrying(above []line) *Retry {
	for i := len(above) - 1; i >= 0; i-- {
		if above[i].indent() != 0 {
			continue
		}
		row := strings.Join(strings.Fields(plain(above[i:])), " ")
		m := retryRow.FindStringSubmatch(row)
		if m == nil {
			return nil
		}
		in, _ := time.ParseDuration(strings.ReplaceAll(m[2], " ", "")) // "1m 5s"
		return &Retry{What: m[1], In: in}
	}
	return nil
}
