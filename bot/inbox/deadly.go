package inbox

import (
	"context"
	"errors"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// mostTries is the number of starts that may find an unhandled update. After more, the update
// counts as the one that ends the program.
const mostTries = 3

// innocence is the pause before an update that may have ended the program is handled again. It
// doubles each time.
const innocence = time.Second

var errDeadly = errors.New("ccbot ended each time it handled this update")

// doLeft handles an entry of an earlier run. The try is stored when the entry's turn comes, because
// entries that wait after a deadly update are not deadly. From the second try on such entries run
// one at a time, across conversations, to find the deadly one.
func (i *Intake) doLeft(ctx context.Context, e Entry, j *job) (again time.Duration) {
	if e.Tries > 0 {
		// Other code may end a program soon after its start. The pause lets that happen first, so
		// that it is not blamed on the entry.
		if pause.For(ctx, innocence<<(e.Tries-1)) != nil {
			return 0
		}
		select {
		case i.suspect <- struct{}{}:
			defer func() { <-i.suspect }()
		case <-ctx.Done():
			return 0
		}
	}
	e.Tries++
	if e.Tries > mostTries {
		f := Failure{Key: e.Key, Conversation: e.Conversation, MessageID: e.MessageID, From: glance(e.Update).from,
			Deadly: true, Err: errDeadly}
		return i.settle(ctx, f, j)
	}
	err := i.cfg.Store.Change(e.Key, func(now *Entry) error { now.Tries = e.Tries; return nil })
	if err != nil { // a full disk must not block the entry
		i.cfg.Log.Error("inbox_write_failed", logkey.Key, e.Key, logkey.Error, err)
	}
	j.left = false
	again = i.doEntry(ctx, e, j)
	if ctx.Err() != nil { // the stop ended the program, not this entry
		_ = i.cfg.Store.Change(e.Key, func(now *Entry) error { now.Tries = max(0, now.Tries-1); return nil }) // or it is finished
	}
	return again
}
