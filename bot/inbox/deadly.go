package inbox

import (
	"context"
	"errors"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// mostTries is how many starts may find an update that was not handled: after that it is taken for
// what ends the program.
const mostTries = 3

// innocence is how long an update waits that may be what ended the program; twice as long each
// time.
const innocence = time.Second

// errDeadly is why such an update is set aside.
var errDeadly = errors.New("ccbot ended each time it handled this update")

// doLeft handles an entry that an earlier run has left behind. That is noted on disk when its turn
// comes, not before: what waits behind a deadly update is none itself. From the second time on such
// entries are handled one at a time, also those of different conversations, so that it shows which
// of them it is.
func (i *Intake) doLeft(ctx context.Context, e Entry, j *job) (again time.Duration) {
	if e.Tries > 0 {
		// What else may end a program soon after its start has time to do that first: then this one
		// is not to blame.
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
		i.cfg.Log.Error("inbox_write_failed", logkey.Key, e.Key, logkey.Error, err.Error())
	}
	j.left = false
	again = i.doEntry(ctx, e, j)
	if ctx.Err() != nil { // it was stopped, and has ended nothing
		_ = i.cfg.Store.Change(e.Key, func(now *Entry) error { now.Tries = max(0, now.Tries-1); return nil }) // or it is finished
	}
	return again
}
