package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

// durations are all time spans that can be set. Everybody gets theirs from here,
// so that none is read or parsed, or has its default, in two places.
type durations struct {
	KillGrace    time.Duration // from hang-up to KILL
	IdleAfter    time.Duration // of quiet, until a session is archived; 0: never
	PurgeAfter   time.Duration // from a session's end until it is forgotten; 0: never
	StaleRunning time.Duration // without a sign of life, until a running session is given up; 0: never
	ResumeStale  time.Duration // without one, until a session is not meant by who comes back; 0: never
	OrphanGrace  time.Duration // for what was just started or has just ended
	InboxTTL     time.Duration // until a file from the chat is removed; 0: never
}

// durations resolves all of them.
func (c config) durations() durations {
	return durations{KillGrace: time.Duration(c.KillGrace), IdleAfter: time.Duration(c.IdleAfter),
		PurgeAfter: time.Duration(c.PurgeAfter), StaleRunning: time.Duration(c.StaleRunning),
		ResumeStale: time.Duration(c.ResumeStale), OrphanGrace: time.Duration(c.OrphanGrace),
		InboxTTL: time.Duration(c.InboxTTL)}
}

// duration is a time span with the units s, m, h and d.
type duration time.Duration

var durationForm = regexp.MustCompile(`^(\d+)([smhd])$`)

// UnmarshalText reads "12s", "6h", "14d" or "0".
func (d *duration) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*d = 0
		return nil
	}
	if len(text) > longestShown {
		return errors.New("it is not a time span like 12s, 5m, 6h or 14d") // it may be a token in the wrong line
	}
	m := durationForm.FindStringSubmatch(string(text))
	if m == nil {
		return fmt.Errorf("%q is not a time span like 12s, 5m, 6h or 14d", text)
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil {
		return fmt.Errorf("%q is too long", text)
	}
	unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]]
	if n > int64(math.MaxInt64/unit) { // it would come out as any time, also a short one
		return fmt.Errorf("%q is too long", text)
	}
	*d = duration(time.Duration(n) * unit)
	return nil
}
