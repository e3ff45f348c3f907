package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/internal/address"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/sysfault"
)

// mostPause is the longest pause before a failed disk access is tried again.
const mostPause = 5 * time.Second

// attempts is the number of tries before an update is given up.
const attempts = 3

// ErrLater is returned if an update is valid but cannot be handled yet, for example because a disk
// is full. The update is retried until it is handled, and later updates of its conversation wait.
var ErrLater = errors.New("it cannot be handled yet")

// Handler handles updates.
type Handler interface {
	// Handle is called at least once for an accepted entry, with its key and the decoded update of
	// an allowed kind, or nil for a p- key. If Handle returns nil, the entry is done, or Handle
	// saved it in another state. After an error or a panic Handle is called again, three times in
	// all, unless it moved the entry to another state; then the update is given up, unless the
	// error is ErrLater. rest holds the other messages of u's album, or the other parts of its
	// text, in order; they belong to u's entry. An error after ctx ended is not a failure: the next
	// start hands the entry on again.
	Handle(ctx context.Context, key string, u *models.Update, rest ...*models.Update) error
	// Tap decides about a tap, a CallbackQuery, and must not wait for anything slower than the
	// disk: later messages of the conversation wait for the decision, because their meaning may
	// depend on it. then is the remaining work, or nil. Tap and then are called once each.
	Tap(ctx context.Context, u *models.Update) (then func(ctx context.Context) error, err error)
}

// Reporter reports updates that were given up or have to wait, and the state of clock and polls.
type Reporter interface {
	// UpdateFailed informs the person, durably. Until it returns nil the entry stays accepted, so
	// that the next start brings it back. The Reporter itself must check whether From may be
	// answered at all.
	UpdateFailed(ctx context.Context, f Failure) error
	// ClockDiffers is called if this machine's clock differs from Telegram's by more than two
	// minutes, positive if it is ahead, until a person was notified, and again if the difference
	// returns after it was gone.
	ClockDiffers(ctx context.Context, ahead time.Duration) (reported bool, err error)
	// RivalPolls is called if another program takes the messages of this bot for a minute, and with
	// false when it no longer does, each until a person was notified.
	RivalPolls(ctx context.Context, polls bool) (reported bool, err error)
	// OutageEnded is called if Telegram answers after an outage of more than five minutes, before
	// the messages of that time are handled.
	OutageEnded(ctx context.Context, since, now time.Time) error
}

// Failure is an update that was given up, or that has to wait.
type Failure struct {
	Key          string
	Update       *models.Update // nil for a p- key, if undecodable, and if deadly
	Unreadable   bool           // it could not be decoded
	Deadly       bool           // the program ended each time it was handled
	Waits        bool           // it was not given up: Err is ErrLater
	Tap          bool
	Late         bool // a tap that may be older than two minutes; it was not handled
	Conversation address.Conversation
	MessageID    int   // the message, or the one tapped
	From         int64 // user id of the sender; 0 if unknown
	Err          error
	rest         []*models.Update // the other messages of the update's album or text
}

// do handles a job of a queue. again is the pause before its next try, or 0: later jobs of the
// queue wait, because they must not overtake it.
func (i *Intake) do(ctx context.Context, in queueKey, j *job) (again time.Duration) {
	switch {
	case j.unkept != nil:
		j.decided()
		if err := guard.Call(func() error { return j.unkept(ctx) }); err != nil && ctx.Err() == nil {
			i.logFailure(ctx, "update_failed", j.key, 1, err)
		}
		return 0
	case j.tap != nil:
		i.doTap(ctx, in, *j)
		return 0
	}
	j.failures.Min, j.failures.Max = time.Second, mostPause
	switch {
	case j.step != nil:
		if j.step() != nil {
			return j.failures.Next()
		}
		return 0
	case j.failed != nil:
		return i.giveUp(ctx, *j.failed, j)
	}
	e, err := i.cfg.Store.join(append([]string{j.key}, j.rest...), j.straggler)
	switch {
	case errors.Is(err, ErrNoEntry): // it is finished, or another package's
		return 0
	case err != nil: // nothing was handled: a full disk, or no file descriptor for the read
		i.cfg.Log.Error("inbox_write_failed", logkey.Key, j.key, logkey.Error, err)
		return j.failures.Next()
	case j.left:
		return i.doLeft(ctx, e, j)
	}
	return i.doEntry(ctx, e, j)
}

func (i *Intake) doEntry(ctx context.Context, e Entry, j *job) (again time.Duration) {
	f := Failure{Key: e.Key, Conversation: e.Conversation, MessageID: e.MessageID}
	if len(e.Update) > 0 {
		g := glance(e.Update)
		if !slices.Contains(allowed, g.kind) {
			i.finish(e.Key)
			return 0
		}
		f.From = g.from
		u := new(models.Update)
		if err := json.Unmarshal(e.Update, u); err != nil {
			f.Unreadable, f.Err = true, err
		}
		f.Update = u
		for _, raw := range e.Rest {
			part := new(models.Update)
			if err := json.Unmarshal(raw, part); err != nil {
				f.Unreadable, f.Err = true, err
			}
			f.rest = append(f.rest, part)
		}
	}
	return i.settle(ctx, f, j)
}

// settle handles an entry, or reports that it cannot be handled. It requests another try if even
// the report fails (a full disk), or if the entry has to wait, which is reported once.
func (i *Intake) settle(ctx context.Context, f Failure, j *job) (again time.Duration) {
	if f.Unreadable || f.Deadly {
		f.Update = nil
	} else if f.Err = i.attempt(ctx, f, j); f.Err == nil {
		return 0
	}
	if f.Waits = errors.Is(f.Err, ErrLater); f.Waits {
		_ = i.cfg.Store.Change(f.Key, func(e *Entry) error { e.Tries = 0; return nil }) // it has not ended the program
		j.reported = j.reported || i.report(ctx, f)
		return j.failures.Next()
	}
	return i.giveUp(ctx, f, j)
}

// attempt hands an entry on until the handler succeeds, the entry leaves the accepted state, or ctx
// ends; then it returns nil. The error is from the last of three tries, or from the only one if
// the wait was already reported.
func (i *Intake) attempt(ctx context.Context, f Failure, j *job) error {
	key, most := f.Key, attempts
	if j.reported { // an error of each try is not logged three times
		most = 1
	}
	pauses := pause.Backoff{Min: 500 * time.Millisecond, Max: mostPause}
	for n := 1; ; n++ {
		err := guard.Call(func() error { return i.cfg.Handler.Handle(ctx, key, f.Update, f.rest...) })
		if err == nil {
			i.finish(key)
			return nil
		}
		if ctx.Err() != nil {
			return nil
		}
		i.logFailure(ctx, "update_failed", key, n, err)
		if e, loadErr := i.cfg.Store.Load(key); errors.Is(loadErr, ErrNoEntry) || loadErr == nil && e.State != Accepted {
			return nil
		}
		if n == most {
			return err
		}
		if pause.For(ctx, pauses.Next()) != nil {
			return nil
		}
	}
}

func (i *Intake) logFailure(ctx context.Context, msg, key string, n int, err error) {
	attrs := []slog.Attr{slog.String(logkey.Key, key), slog.Int(logkey.Attempt, n), slog.Any(logkey.Error, err)}
	if p, ok := errors.AsType[*guard.Panic](err); ok {
		attrs = append(attrs, slog.String(logkey.Stack, p.Stack))
	}
	i.cfg.Log.LogAttrs(ctx, slog.LevelError, msg, attrs...) //nolint:sloglint // the caller names the event
}

// finish finishes a handled entry: at once, or when the disk accepts it.
func (i *Intake) finish(key string) {
	i.untilDone(key, func() error {
		err := i.cfg.Store.FinishIn(key, Accepted)
		if err == nil || errors.Is(err, ErrNoEntry) {
			return nil
		}
		i.cfg.Log.Error("inbox_write_failed", logkey.Key, key, logkey.Error, err)
		return err
	})
}

// untilDone runs a disk step for a handled entry. A failed step is retried in a separate queue, so
// that the handler is not called again and later messages do not wait.
func (i *Intake) untilDone(key string, step func() error) {
	if step() != nil {
		i.queues.add(queueKey{rest: key}, job{key: key, step: step})
	}
}

// giveUp reports, then ends the update: a crash may repeat the report, but never omits it. An
// update stopped by a fault of the machine is finished; others go to quarantine. If the report
// fails, the job comes again, without its handler.
func (i *Intake) giveUp(ctx context.Context, f Failure, j *job) (again time.Duration) {
	if j.failed = &f; !i.report(ctx, f) {
		return j.failures.Next()
	}
	if sysfault.Of(f.Err) != "" {
		i.finish(f.Key)
		return 0
	}
	i.cfg.Log.Error("update_quarantined", logkey.Key, f.Key, logkey.Error, f.Err)
	i.untilDone(f.Key, func() error {
		err := i.cfg.Store.setAside(f.Key, f.Err.Error())
		if err != nil {
			i.cfg.Log.Error("inbox_quarantine_failed", logkey.Key, f.Key, logkey.Error, err)
		}
		return err
	})
	return 0
}

func (i *Intake) report(ctx context.Context, f Failure) bool {
	err := guard.Call(func() error { return i.cfg.Reporter.UpdateFailed(ctx, f) })
	if err != nil {
		i.logFailure(ctx, "update_report_failed", f.Key, 1, err)
	}
	return err == nil
}

// doTap handles a tap once: a failed tap may be half done, and the person can tap again.
func (i *Intake) doTap(ctx context.Context, in queueKey, j job) {
	defer j.decided()
	f := Failure{Key: j.key, Update: j.tap, Tap: true, Conversation: in.where, MessageID: in.on,
		From: j.tap.CallbackQuery.From.ID, Late: j.late, Err: errLate}
	if !j.late {
		f.Err = guard.Call(func() error { return i.tap(ctx, j) })
		if f.Err == nil || ctx.Err() != nil {
			return
		}
		i.logFailure(ctx, "tap_failed", j.key, 1, f.Err)
	}
	i.report(ctx, f)
}

// tap decides a tap, releases the waiting messages, and then does the rest.
func (i *Intake) tap(ctx context.Context, j job) error {
	then, err := i.cfg.Handler.Tap(ctx, j.tap)
	j.decided()
	if err != nil || then == nil {
		return err
	}
	return then(ctx)
}
