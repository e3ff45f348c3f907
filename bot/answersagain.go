package bot

import (
	"context"
	"errors"
	"time"

	"ccbot/bot/outbox"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// errAgain has a reader begin again at its cursor: what it has passed over is to
// be shown after all, or in another form.
var errAgain = errors.New("to be read again")

// errNotSaved says that a cursor is not on disk; advance has logged it.
var errNotSaved = errors.New("the cursor is not saved")

// setbacks are what keeps a reader from going on.
type setbacks struct {
	bad  trouble
	same streak
}

// stumble does what a reader can do about an error before it begins again at
// its cursor.
func (a *answers) stumble(ctx context.Context, r session.Record, news chan struct{}, s *setbacks, err error) {
	chat := r.Conversation.ChatID
	var crash *crash
	switch {
	case errors.Is(err, outbox.ErrBlocked) && a.Sender.Parked(chat):
		a.awaitUnparked(ctx, chat, news)
	case errors.As(err, &crash):
		if err := a.overcome(ctx, r, &s.bad, crash); err != nil {
			a.stumble(ctx, r, news, s, err)
		}
	default:
		wait := s.same.after(r.Cursors[0], err)
		if s.same.untold(err) {
			a.Log.Error("transcript_unreadable", "session_id", r.ID.String(), "error", err.Error())
		}
		a.pause(ctx, news, wait)
	}
}

// streak is how often in a row a reader has begun at one cursor in vain.
type streak struct {
	at    transcript.Cursor
	times int
	told  bool
}

// longestWait is between two tries of what fails again and again.
const longestWait = 30 * time.Second

// after is how long a reader waits before it begins at a cursor again. What is to
// be read again needs no wait once: if that has not helped, another time would not.
func (s *streak) after(at transcript.Cursor, why error) time.Duration {
	if s.at != at {
		*s = streak{at: at}
	}
	s.times++
	n := s.times
	if errors.Is(why, errAgain) {
		n--
	}
	if n == 0 {
		return 0
	}
	return min(time.Second<<min(n-1, 6), longestWait)
}

// untold says whether an error is to be logged: the first of its streak that is
// not expected.
func (s *streak) untold(why error) bool {
	if s.told || errors.Is(why, errAgain) || errors.Is(why, errNotSaved) || errors.Is(why, outbox.ErrBlocked) {
		return false
	}
	s.told = true
	return true
}

// pause keeps what fails from being tried in a hot loop. News may have mended it.
func (a *answers) pause(ctx context.Context, news <-chan struct{}, d time.Duration) {
	if d == 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-news:
	case <-t.C:
	}
}

// crash is a panic of a reader, and where it was then.
type crash struct {
	at         *passage
	why, stack string
}

func (c *crash) Error() string { return "panic: " + c.why }

// trouble is an item at which a reader has crashed again and again.
type trouble struct {
	at    transcript.Cursor
	times int
}

// mostCrashes is how often an item is tried: then it is passed.
const mostCrashes = 3

// overcome lets a reader try again after a while what it has crashed at. One bad
// item must not end the bot, nor dam what comes after it.
func (a *answers) overcome(ctx context.Context, r session.Record, bad *trouble, c *crash) error {
	item := c.at.item
	a.Log.Error("answer_crashed", "session_id", r.ID.String(), "offset", item.At.Offset, "block", item.At.Block,
		"panic", c.why, "stack", c.stack)
	if bad.at != item.At {
		*bad = trouble{at: item.At}
	}
	if bad.times++; bad.times < mostCrashes || item.At.Path == "" {
		a.pause(ctx, nil, time.Second<<min(bad.times-1, 6))
		return nil
	}
	return c.at.pass(ctx, r)
}
