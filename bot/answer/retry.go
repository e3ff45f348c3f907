package answer

import (
	"context"
	"errors"
	"time"

	"ccbot/bot/outbox"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
)

// errReadAgain has a reader begin again at its cursor: an item that the reader has passed is to be
// shown after all, or in another form.
var errReadAgain = errors.New("to be read again")

// errNotSaved says that a cursor is not on disk; advance has logged the reason.
var errNotSaved = errors.New("the cursor is not saved")

// retry is how often in a row a reader has begun at one cursor in vain.
type retry struct {
	at     talk.Cursor
	times  int
	logged bool
}

// longestPause is between two tries of what fails again and again.
const longestPause = 30 * time.Second

// pauseAfter is how long a reader waits before it begins at a cursor again. What is to be read
// again needs no pause once: if that has not helped, another time would not.
func (r *retry) pauseAfter(at talk.Cursor, why error) time.Duration {
	if r.at != at {
		*r = retry{at: at}
	}
	r.times++
	n := r.times
	if errors.Is(why, errReadAgain) {
		n--
	}
	if n == 0 {
		return 0
	}
	return min(time.Second<<min(n-1, 6), longestPause)
}

// needsLog reports whether an error is to be logged: the first one in a row that is not expected.
func (r *retry) needsLog(why error) bool {
	expected := errors.Is(why, errReadAgain) || errors.Is(why, errNotSaved) || errors.Is(why, outbox.ErrBlocked)
	if r.logged || expected {
		return false
	}
	r.logged = true
	return true
}

// waitToRetry waits as long as an error asks for, before the reader begins again at its cursor.
// News may have removed the reason.
func (t *transcriptReader) waitToRetry(ctx context.Context, r views.Session, err error) {
	chat := r.Conversation.ChatID
	if errors.Is(err, outbox.ErrBlocked) && t.answers.Limits.Parked(chat) {
		t.answers.awaitUnparked(ctx, chat, t.news)
		return
	}
	pause := t.retry.pauseAfter(r.Cursors[0], err)
	if t.retry.needsLog(err) {
		t.answers.Chat.Log.Error("transcript_unreadable", "session_id", r.ID.String(), "error", err.Error())
	}
	if pause == 0 {
		return
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-t.news:
	case <-timer.C:
	}
}
