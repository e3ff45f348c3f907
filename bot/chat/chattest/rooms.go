package chattest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// OnRequest and the other methods here call features of the bot. The reader of the transcript has
// passed the request's call, so that its message is on its way.
func (w *World) OnRequest(ctx context.Context, q talk.Request) error {
	w.Calls(q)
	return w.OnEarlyRequest(ctx, q)
}

// OnEarlyRequest is OnRequest before the reader has passed the call.
func (w *World) OnEarlyRequest(ctx context.Context, q talk.Request) error {
	s, _ := w.Book.Records.Get(q.Session)
	project, err := w.Requests.Hooks.Answerers(context.WithoutCancel(ctx), q.Session)
	if err != nil {
		return err
	}
	return w.reader().SessionNews(ctx, s, news.Requested{Request: q, Project: project})
}

func (w *World) OnLeft(ctx context.Context, q talk.Request) {
	s, _ := w.Book.Records.Get(q.Session)
	_ = w.reader().SessionNews(ctx, s, news.RequestLeft{Request: q.ID})
}

// SendFile offers a file as an agent does, twice, and returns the outcome.
func (w *World) SendFile(ctx context.Context, id uuid.UUID, path, caption string) error {
	running, stop := context.WithCancel(ctx)
	over := make(chan error, 1)
	go func() { over <- w.Bot.Files.Feature().Run(running) }()
	err := w.Offers.Offer(ctx, id, func(offer uuid.UUID) error {
		s, _ := w.Book.Records.Get(id)
		n := news.FileOffered{ID: offer, Path: path, Caption: caption}
		return errors.Join(w.reader().SessionNews(ctx, s, n), w.reader().SessionNews(ctx, s, n))
	})
	stop()
	return errors.Join(err, <-over)
}

// Silent requires that there is no message and no call.
func (w *World) Silent(t *testing.T) {
	t.Helper()
	require.Empty(t, w.Telegram.Done(), "strangers get silence")
	require.Empty(t, w.Lifecycle.Done())
}

func (f *fakeSessions) SetBudget(_ context.Context, id uuid.UUID, b port.Budget) error {
	if r, ok := f.records.Get(id); !ok || r.Budget.Turn != b.Turn {
		return lifecycle.ErrChanged
	}
	f.records.Change(id, func(r *session.Record) { r.Budget = b })
	return nil
}

func (f *fakeSessions) SetIdleAfter(_ context.Context, id uuid.UUID, after *time.Duration) error {
	if f.OnIdleAfter != nil {
		if err := f.OnIdleAfter(id); err != nil {
			return err
		}
	}
	f.records.Change(id, func(r *session.Record) { r.IdleAfter = after })
	return nil
}
