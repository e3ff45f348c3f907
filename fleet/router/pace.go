package router

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"ccbot/bot/machine"
	"ccbot/internal/pause"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// The pace of the news of another machine that people read. Each of them is a message, or several
// if it is long, and Telegram takes a message in three seconds for a group. News that come faster
// wait at their machine: otherwise one machine could fill the chat's disk with messages, and the
// messages of others would wait behind them for hours.
const (
	newsInterval = 3 * time.Second
	newsBurst    = 300
	newsSize     = 4 << 10 // of the news that fit in one message
)

// Bounds of the transcripts of another machine. The end of a turn is a message, too, and what was
// read waits in memory until Telegram has it.
const (
	turnInterval  = time.Second
	turnBurst     = 600
	emptyInterval = time.Second
	maxText       = 1 << 20 // of all items of a call but the first
)

func newPace() pace {
	return pace{news: rate.NewLimiter(rate.Every(newsInterval), newsBurst), turns: rate.NewLimiter(rate.Every(turnInterval), turnBurst)}
}

// pace is the pace of one machine.
type pace struct{ news, turns *rate.Limiter }

// awaitPace returns when news may be passed on.
func (h *host) awaitPace(ctx context.Context, n news.News) error {
	switch n.(type) {
	case news.Doing, news.Typed, news.Delivered, news.Requeued, news.Transcript, news.DialogGone, news.Renamed, news.RequestLeft,
		news.Forgotten, news.Progress, news.FilesDue:
		return nil // no message
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return await(ctx, h.pace.news, min(1+len(data)/newsSize, newsBurst))
}

// await takes tokens of a limiter, and returns when they are there.
func await(ctx context.Context, l *rate.Limiter, n int) error {
	taken := l.ReserveN(time.Now(), n)
	if wait := taken.Delay(); wait > 0 {
		if err := pause.For(ctx, wait); err != nil {
			taken.Cancel()
			return err
		}
	}
	return nil
}

// paced are the transcripts of another machine.
type paced struct {
	machine.Transcripts
	pace pace
}

// Next returns no more than it is asked for, and waits after too many turns. An answer without
// items that should have waited for them comes late.
func (p paced) Next(ctx context.Context, session uuid.UUID, from talk.Cursor, most int, wait bool) ([]talk.Item, error) {
	items, err := p.Transcripts.Next(ctx, session, from, most, wait)
	if len(items) == 0 && err == nil && wait {
		return nil, pause.For(ctx, emptyInterval)
	}
	turns, text := 0, 0
	for i, item := range items {
		if text += len(item.Text); i >= most || i > 0 && text > maxText {
			items = items[:i]
			break
		}
		if item.Ends != "" {
			turns++
		}
	}
	if failed := await(ctx, p.pace.turns, min(turns, turnBurst)); failed != nil {
		return nil, failed
	}
	return items, err
}
