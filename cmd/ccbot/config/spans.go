package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

var durationForm = regexp.MustCompile(`^(\d+)([smhd])$`)

// Span reads "12s", "6h", "14d" or "0". All time spans that can be set are read here.
func Span(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	if len(text) > longestShown {
		return 0, errors.New("it is not a time span like 12s, 5m, 6h or 14d") // it may be a token in the wrong line
	}
	m := durationForm.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is not a time span like 12s, 5m, 6h or 14d", text)
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]]
	if err != nil || n > int64(math.MaxInt64/unit) { // an overflow could become any span, also a short one
		return 0, fmt.Errorf("%q is too long", text)
	}
	return time.Duration(n) * unit, nil
}
