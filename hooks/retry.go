package hooks

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// maxFailures tries, the last ones a minute apart, take about four minutes: longer than a short
// failure of the disk or the bot, and short enough that a session with an event that cannot be
// handled still gets its later events.
const maxFailures = 10

// patience is the schedule for a refused event: the next try comes after first, then the pause
// doubles up to most.
type patience struct {
	first, most time.Duration
	failures    int
}

func (p patience) wait(count int) time.Duration { return pause.Doubled(p.first, p.most, count-1) }

// failing is the history of one file that could not be handled.
type failing struct {
	key   string // what the file holds up: its launch, or only itself
	count int
	due   time.Time
}

// failedLocked counts a failed try and returns the error; after the last try it puts the file aside
// instead. A file that the sink has taken is never put aside, because only its removal fails.
func (e *Events) failedLocked(name, key string, cause error) error {
	count := e.postponeLocked(name, key)
	if count >= e.patience.failures && !e.delivered[name] {
		return e.putAsideLocked(name, cause)
	}
	return fmt.Errorf("hook event %s, try %d: %w", name, count, cause)
}

func (e *Events) postponeLocked(name, key string) int {
	f := e.failing[name]
	if f == nil {
		f = &failing{key: key}
		e.failing[name] = f
	}
	f.count++
	f.due = e.now().Add(e.patience.wait(f.count))
	return f.count
}

// putAsideLocked moves a file to quarantine/. If the move fails too, the file stays and is tried
// again with backoff.
func (e *Events) putAsideLocked(name string, cause error) error {
	if err := e.folder.Quarantine(name, e.quarantine, cause.Error()); err != nil {
		e.postponeLocked(name, name)
		return err
	}
	delete(e.failing, name)
	e.log.Error("hook_event_quarantined", logkey.Name, name, logkey.Error, cause)
	return nil
}

// dueLocked is the time of the next try among the postponed files; zero when there is none.
func (e *Events) dueLocked() (due time.Time) {
	for _, f := range e.failing {
		if due.IsZero() || f.due.Before(due) {
			due = f.due
		}
	}
	return due
}

// forgetLocked drops the history of files that are gone. names are those that are there, in order.
func (e *Events) forgetLocked(names []string) {
	gone := func(name string) bool {
		_, there := slices.BinarySearch(names, name)
		return !there
	}
	maps.DeleteFunc(e.failing, func(name string, _ *failing) bool { return gone(name) })
	maps.DeleteFunc(e.delivered, func(name string, _ bool) bool { return gone(name) })
}
