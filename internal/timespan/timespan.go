// Package timespan parses the time spans that people write, in settings, flags and /quiet, and the
// times of a day.
package timespan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"ccbot/internal/lazyregexp"
)

var (
	spanForm = lazyregexp.New(`^(\d+d)?(\d+h)?(\d+m)?(\d+s)?$`)
	spanPart = lazyregexp.New(`(\d+)([smhd])`)
)

// maxLength bounds a span. It is shorter than the secret half of any token, which may be in the
// wrong line: an error does not repeat a longer text.
const maxLength = 20

// Parse parses "12s", "1h30m", "14d" or "0", with each unit at most once and the larger one first.
func Parse(text string) (d time.Duration, err error) {
	if text == "0" {
		return 0, nil
	}
	if len(text) > maxLength {
		return 0, errors.New("it is not a time span like 12s, 5m, 1h30m or 14d")
	}
	if text == "" || !spanForm.MatchString(text) {
		return 0, fmt.Errorf("%q is not a time span like 12s, 5m, 1h30m or 14d", text)
	}
	for _, part := range spanPart.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseInt(part[1], 10, 32)
		unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[part[2]]
		// an overflow could become any span, also a short one
		if err != nil || n > int64((math.MaxInt64-d)/unit) {
			return 0, fmt.Errorf("%q is too long", text)
		}
		d += time.Duration(n) * unit
	}
	return d, nil
}

// NextClock returns the next time after now at which the clocks of now's time zone show a text such
// as 08:00, in UTC. ok is false if the text is none.
func NextClock(text string, now time.Time) (at time.Time, ok bool) {
	clock, err := time.Parse("15:04", text)
	for day := 0; err == nil && !at.After(now); day++ {
		at = time.Date(now.Year(), now.Month(), now.Day()+day, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	return at.UTC(), err == nil
}
