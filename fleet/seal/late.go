package seal

import (
	"slices"
	"time"
)

// MaxAge is the age from which a message is Late. A slow connection may need half of it for the
// messages that are on their way.
const MaxAge = time.Minute

// markInterval is the least time between two marks.
const markInterval = time.Second

// marks has the times at which this end sealed messages. A message that its sender has sealed after
// it opened one of them is not older.
type marks []mark

type mark struct {
	seq uint64
	at  time.Time
}

// age returns the time since the mark, in which the machine may have slept: the clock that orders
// times stops then.
func (m mark) age(now time.Time) time.Duration {
	return max(now.Sub(m.at), now.Round(0).Sub(m.at.Round(0)))
}

// add notes the time of a message, and forgets those that are too old.
func (all marks) add(seq uint64, now time.Time) marks {
	if n := len(all); n > 0 && now.Sub(all[n-1].at) < markInterval {
		return all
	}
	all = slices.DeleteFunc(all, func(m mark) bool { return m.age(now) > MaxAge })
	return append(all, mark{seq, now})
}

// isRecent reports whether a message whose sender has opened those up to a number was sealed at
// most MaxAge ago.
func (all marks) isRecent(heard uint64, now time.Time) bool {
	return slices.ContainsFunc(all, func(m mark) bool { return m.seq <= heard && m.age(now) <= MaxAge })
}
