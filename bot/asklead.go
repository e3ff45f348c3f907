package bot

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/hooks"
	"ccbot/internal/transcript"
)

// askLead is how long a request's message lets the agent's own words before the
// call go first: its hook starts a little before the transcript has them.
const askLead = 700 * time.Millisecond

// lead is a message that waits for the words before it.
type lead struct {
	request hooks.Request
	shown   chan struct{} // closed when the chat has them
}

// called hears that the chat has everything up to a tool call of a session.
func (a *asks) called(id uuid.UUID, call transcript.Item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls[id] = call
	for key, l := range a.leads {
		if l.request.Session == id && isCall(l.request, call) {
			close(l.shown)
			delete(a.leads, key)
		}
	}
}

// isCall says whether a request is for this very call, as far as the order of
// messages is worth it.
func isCall(q hooks.Request, call transcript.Item) bool {
	return call.Tool != nil && call.Tool.Name == q.Tool && call.Time.After(q.Asked.Add(-time.Second))
}

// awaitLead waits until the chat has what the agent said before the call, for a
// moment at most. A subagent's words are not shown.
func (a *asks) awaitLead(ctx context.Context, c ask.Card) {
	q := c.Request
	a.mu.Lock()
	if q.SubagentID != "" || isCall(q, a.calls[q.Session]) {
		a.mu.Unlock()
		return
	}
	l := lead{q, make(chan struct{})}
	a.leads[q.ID] = l
	a.mu.Unlock()
	timer := time.NewTimer(a.patience)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-l.shown:
	case <-timer.C:
	}
	a.mu.Lock()
	delete(a.leads, q.ID)
	a.mu.Unlock()
}
