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

// stumble does what a reader can do about an error before it begins again at
// its cursor.
func (a *answers) stumble(ctx context.Context, r session.Record, news chan struct{}, s *streak, err error) {
	chat := r.Conversation.ChatID
	switch {
	case errors.Is(err, outbox.ErrBlocked) && a.Sender.Parked(chat):
		a.awaitUnparked(ctx, chat, news)
	default:
		wait := s.after(r.Cursors[0], err)
		if s.untold(err) {
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
