package chattest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/bot/conversation"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port/talk"
)

// FakeSpending is the agents' usage, set by a test.
type FakeSpending struct {
	*gate

	mu       sync.Mutex
	spent    func(ctx context.Context) (talk.Report, error)
	limits   []talk.Limit
	reported bool
	waits    chan struct{} // of the waiting reader: made in the bubble of the test, if there is one
}

func newSpending(g *gate) *FakeSpending {
	return &FakeSpending{gate: g, spent: func(context.Context) (talk.Report, error) {
		return talk.Report{Spans: make([]talk.Span, len(talk.ReportSpans())), Days: make([]float64, talk.ReportDays),
			Prices: "2026-05-01", Source: "a list"}, nil
	}}
}

// Tells sets the limits that status lines report.
func (f *FakeSpending) Tells(all ...talk.Limit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limits, f.reported = all, true
	if f.waits != nil {
		close(f.waits)
		f.waits = nil
	}
}

func (f *FakeSpending) Spent(ctx context.Context, _ time.Duration) (talk.Report, error) {
	f.wait()
	f.mu.Lock()
	spent := f.spent
	f.mu.Unlock()
	return spent(ctx)
}

// Answer sets the function that answers Spent.
func (f *FakeSpending) Answer(spent func(ctx context.Context) (talk.Report, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spent = spent
}

func (f *FakeSpending) Limits(context.Context) ([]talk.Limit, error) {
	f.wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits, nil
}

func (f *FakeSpending) LimitsChange(ctx context.Context) error {
	for {
		f.mu.Lock()
		if f.reported {
			f.reported = false
			f.mu.Unlock()
			return nil
		}
		waits := make(chan struct{})
		f.waits = waits
		f.mu.Unlock()
		select {
		case <-waits:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ShowsLimits warns of a limit, offers to continue a session after one, asks about the plan of a chat that is not allowed, and shows
// that the budget of the session is used up.
func (w *World) ShowsLimits(t *testing.T, r session.Record) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	posts := func() int {
		w.Telegram.Mu.Lock()
		defer w.Telegram.Mu.Unlock()
		return len(w.Telegram.Waiting)
	}
	require.NoError(t, w.Chats.Set(r.Conversation.ChatID, func(s *conversation.Settings) { s.SessionBudget = 1 }))
	w.Spent.Answer(func(context.Context) (talk.Report, error) {
		spans := make([]talk.Span, len(talk.ReportSpans()))
		spans[len(spans)-1].Sessions = []talk.Line{{Name: r.Name, Session: r.ID, Sum: talk.Sum{Cost: 2}}}
		return talk.Report{Spans: spans, Days: make([]float64, talk.ReportDays)}, nil
	})
	before, ended := posts(), make(chan error, 3)
	for _, name := range []string{"usage", "limit", "budget"} {
		f := w.Feature(name)
		go func() { ended <- f.Run(ctx) }()
	}
	until := w.Now().Add(time.Hour)
	if now := time.Now(); until.Before(now) {
		until = now.Add(time.Hour) // a card ends by the machine's own clock
	}
	w.Spent.Tells(talk.Limit{Window: talk.Week, Percent: 99, Resets: until})
	w.Feature("limit").OnItem(r.ID, talk.Item{Kind: talk.APIError, Failed: talk.Activity{Phase: talk.PhaseLimited, Until: until}})
	theirs := w.Session(t, "theirs", session.Running)
	w.Records.Change(theirs.ID, func(r *session.Record) { r.Conversation.ChatID = Eve })
	require.NoError(t, w.Chats.Set(Eve, func(s *conversation.Settings) { s.AtLimit = conversation.Continue }))
	w.Feature("limit").OnItem(theirs.ID, talk.Item{Kind: talk.APIError, Failed: talk.Activity{Phase: talk.PhaseLimited, Until: until}})
	waittest.Until(t, func() bool { return posts() > before+1+2*len(w.PrivateChats()) })
	cancel()
	for range cap(ended) {
		require.NoError(t, Receive(t, ended))
	}
	w.Work(t)
}
