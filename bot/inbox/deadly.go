package inbox

import (
	"context"
	"errors"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// mostTries is how many starts may find an update that was not handled. An update that more starts
// find is taken for the one that ends the program.
const mostTries = 3

// innocence is how long an update that may have ended the program waits before it is handled again.
// Each further time the wait is twice as long.
const innocence = time.Second

var errDeadly = errors.New("ccbot ended each time it handled this update")

// doLeft handles an entry that an earlier run has left behind. The try is noted on disk when the
// entry's turn comes, not before, because entries that only wait behind a deadly update are not
// deadly themselves. From the second try on, such entries are handled one at a time, even in
// different conversations, so that it shows which of them is deadly.
func (i *Intake) doLeft(ctx context.Context, e Entry, j *job) (again time.Duration) {
	if e.Tries > 0 {
		// Something else may end a program soon after its start. The pause gives it time to do that
		// first: then this entry is not to blame.
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
	if err != nil { // a full disk holds up nobody
		i.cfg.Log.Error("inbox_write_failed", logkey.Key, e.Key, logkey.Error, err)
	}
	j.left = false
	again = i.doEntry(ctx, e, j)
	if ctx.Err() != nil { // the stop ended the program, not this entry
		_ = i.cfg.Store.Change(e.Key, func(now *Entry) error { now.Tries = max(0, now.Tries-1); return nil }) // or it is finished
	}
	return again
}
