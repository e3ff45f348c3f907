package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeask"
	"ccbot/port/talk"
)

// recorder is a listener that records its calls, in order.
type recorder struct {
	mu    sync.Mutex
	calls []string
	busy  map[string]bool
	asked func(ctx context.Context, q Request) error
	left  func(q Request)
}

func (h *recorder) note(call string, q Request) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, call)
	if h.busy == nil {
		h.busy = map[string]bool{}
	}
	if h.busy[q.ID] {
		h.calls = append(h.calls, "TWO CALLS AT ONCE")
	}
	h.busy[q.ID] = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.busy[q.ID] = false
	}
}

func (h *recorder) OnRequest(ctx context.Context, q Request) error {
	defer h.note("asked", q)()
	if h.asked != nil {
		return h.asked(ctx, q)
	}
	return nil
}

func (h *recorder) OnLeft(_ context.Context, q Request) {
	defer h.note("left", q)()
	if h.left != nil {
		h.left(q)
	}
}

func (h *recorder) recorded() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.calls, " ")
}

func relayTo(l Listener) *Relay {
	r := NewRelay(time.Now, slog.New(slog.DiscardHandler))
	r.Connect(l)
	return r
}

func requestFor(n int) Request {
	return Request{
		ID: fmt.Sprintf("%022d", n), Session: uuid.MustParse("0190a000-0000-7000-8000-000000000001"),
		Agent: "10.1.b", Hook: fmt.Sprintf("%d.2.b", 100+n),
		Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`),
		RequestedAt: time.Date(2026, 11, 20, 12, 0, n, 0, time.UTC),
	}
}

func answer(q Request, choice talk.ChoiceID) talk.Answer {
	return talk.Answer{Choice: choice, Shown: claudeask.Of(q).Digest()}
}

func allow(q Request) talk.Answer { return answer(q, talk.ChoiceAllow) }

func no(q Request) talk.Answer { return answer(q, talk.ChoiceDeny) }

// denied is the hook's output for no.
const denied = `{"behavior":"deny","message":"The user denied this from the chat."}`

// waited holds the results of one call of Wait.
type waited struct {
	decision string // empty: none
	err      error
}

// wait calls Wait as one connection; cut ends the connection.
func wait(t *testing.T, r *Relay, q Request) (result <-chan waited, cut func()) {
	ctx, cancel := context.WithCancel(t.Context())
	out := make(chan waited, 1)
	go func() {
		d, err := r.Wait(ctx, claudeask.Asks{}, q)
		out <- waited{string(d), err}
	}()
	synctest.Wait()
	return out, func() {
		cancel()
		synctest.Wait()
	}
}

func TestP4_DecisionReachesHookOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		r := relayTo(h)
		q := requestFor(1)
		result, cut := wait(t, r, q)
		assert.Equal(t, []Request{q}, r.Waiting(t.Context(), q.Session))
		require.NoError(t, r.Decide(t.Context(), q.ID, no(q)))
		require.ErrorIs(t, r.Decide(t.Context(), q.ID, allow(q)), ErrNotWaiting, "the second one does not count")
		assert.Equal(t, waited{denied, nil}, <-result)
		assert.Empty(t, r.Waiting(t.Context(), q.Session))
		cut()
		assert.Equal(t, "asked", h.recorded(), "an answered hook has not left")
		assert.Empty(t, r.requests)
	})
}

func TestP4_DecisionLostWithConnectionIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		r := relayTo(h)
		q := requestFor(1)
		first, cut := wait(t, r, q)
		require.NoError(t, r.Decide(t.Context(), q.ID, no(q)))
		assert.NotEmpty(t, (<-first).decision) // and the line to the hook breaks before it is written
		cut()
		require.ErrorIs(t, r.Decide(t.Context(), q.ID, no(q)), ErrNotWaiting)

		h.asked = func(_ context.Context, q Request) error { return r.Decide(t.Context(), q.ID, no(q)) }
		again, _ := wait(t, r, q)
		assert.Equal(t, waited{denied, nil}, <-again)
		assert.Equal(t, "asked asked", h.recorded())
	})
}

// A receiver of the change asks the listener for the request, which the listener already has.
func TestRelay_ReportsChangeAfterAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, saved := &recorder{}, make(chan struct{})
		h.asked = func(context.Context, Request) error { <-saved; return nil }
		r, q := relayTo(h), requestFor(1)
		changes := 0
		r.Changed = func(session uuid.UUID) {
			assert.Equal(t, q.Session, session)
			changes++
		}
		result, cut := wait(t, r, q)
		assert.Zero(t, changes)
		close(saved)
		synctest.Wait()
		assert.Equal(t, 1, changes)
		cut()
		<-result
		assert.Equal(t, 2, changes, "it has ceased to wait")
	})
}

func TestRelay_LeftIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		r := relayTo(h)
		q := requestFor(1)
		result, cut := wait(t, r, q)
		cut()
		assert.Equal(t, waited{}, <-result)
		assert.Equal(t, "asked left", h.recorded())
		require.ErrorIs(t, r.Decide(t.Context(), q.ID, allow(q)), ErrNotWaiting)
		r.Leave(t.Context(), q.ID)

		again, _ := wait(t, r, q)
		require.NoError(t, r.Decide(t.Context(), q.ID, allow(q)))
		assert.NotEmpty(t, (<-again).decision, "a redial after the loss was told")
		assert.Equal(t, "asked left asked", h.recorded())
	})
}

func TestRelay_NewerConnectionReplacesOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		r := relayTo(h)
		q := requestFor(1)
		older, cut := wait(t, r, q)
		newer, _ := wait(t, r, q)
		assert.Equal(t, waited{}, <-older)
		cut()
		assert.Equal(t, "asked asked", h.recorded(), "the hook has not left")
		require.NoError(t, r.Decide(t.Context(), q.ID, allow(q)))
		assert.NotEmpty(t, (<-newer).decision)
	})
}

func TestRelay_OlderConnectionBreaksDuringAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		slow := make(chan struct{})
		h.asked = func(context.Context, Request) error { <-slow; return nil }
		r := relayTo(h)
		q := requestFor(1)
		older, cut := wait(t, r, q)
		newer, _ := wait(t, r, q)
		cut()
		assert.Equal(t, "asked", h.recorded(), "one call after the other")
		close(slow)
		synctest.Wait()
		assert.Equal(t, waited{}, <-older)
		assert.Equal(t, "asked asked", h.recorded())
		require.NoError(t, r.Decide(t.Context(), q.ID, allow(q)))
		assert.NotEmpty(t, (<-newer).decision)
	})
}

func TestRelay_RedialWaitsForLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		slow := make(chan struct{})
		h.left = func(Request) { <-slow }
		r := relayTo(h)
		q := requestFor(1)
		_, cut := wait(t, r, q)
		cut()
		newer, _ := wait(t, r, q)
		assert.Equal(t, "asked left", h.recorded())
		close(slow)
		synctest.Wait()
		assert.Equal(t, "asked left asked", h.recorded())
		require.NoError(t, r.Decide(t.Context(), q.ID, allow(q)))
		assert.NotEmpty(t, (<-newer).decision)
	})
}

func TestP9_ForeignProcessGetsNoRequest(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Request)
	}{
		{"another hook", func(q *Request) { q.Hook = "7.2.b" }},
		{"the same pid in another life", func(q *Request) { q.Hook = "101.3.b" }},
		{"another session", func(q *Request) { q.Session = uuid.New() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &recorder{}
				r := relayTo(h)
				q := requestFor(1)
				own, _ := wait(t, r, q)
				other := q
				tt.change(&other)
				result, _ := wait(t, r, other)
				require.ErrorIs(t, (<-result).err, ErrRefused)
				require.NoError(t, r.Decide(t.Context(), q.ID, allow(q)))
				assert.NotEmpty(t, (<-own).decision)
				assert.Equal(t, "asked", h.recorded())
			})
		})
	}
}

func TestRelay_LeaveSendsNoDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		r := relayTo(h)
		q := requestFor(1)
		result, cut := wait(t, r, q)
		r.Leave(t.Context(), q.ID)
		r.Leave(t.Context(), q.ID)
		assert.Equal(t, waited{}, <-result)
		cut()
		assert.Equal(t, "asked", h.recorded())
	})
}

func TestRelay_AListenerThatFails(t *testing.T) {
	broken := errors.New("disk full")
	t.Run("leaves the hook to the terminal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := &recorder{asked: func(context.Context, Request) error { return broken }}
			r := relayTo(h)
			q := requestFor(1)
			result, cut := wait(t, r, q)
			got := <-result
			require.ErrorIs(t, got.err, broken)
			assert.Empty(t, got.decision)
			cut()
			assert.Equal(t, "asked", h.recorded(), "it never took it")
			assert.Empty(t, r.Waiting(t.Context(), q.Session))
		})
	})
	t.Run("at a redial: what it took before has left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := &recorder{}
			r := relayTo(h)
			q := requestFor(1)
			wait(t, r, q)
			h.asked = func(context.Context, Request) error { return broken }
			result, _ := wait(t, r, q)
			require.ErrorIs(t, (<-result).err, broken)
			assert.Equal(t, "asked asked left", h.recorded())
		})
	})
	t.Run("after it has decided", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := &recorder{}
			r := relayTo(h)
			h.asked = func(_ context.Context, q Request) error {
				return errors.Join(broken, r.Decide(t.Context(), q.ID, allow(q)))
			}
			result, _ := wait(t, r, requestFor(1))
			assert.NotEmpty(t, (<-result).decision, "Decide had said that it is taken")
		})
	})
}

func TestRelay_LeaveInsideAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		r := relayTo(h)
		h.asked = func(_ context.Context, q Request) error { r.Leave(t.Context(), q.ID); return nil }
		result, cut := wait(t, r, requestFor(1))
		assert.Equal(t, waited{}, <-result)
		cut()
		assert.Equal(t, "asked", h.recorded())
	})
}

func TestRelay_EachSessionHasItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := relayTo(&recorder{})
		for n := 10; n > 0; n-- {
			wait(t, r, requestFor(n))
		}
		list := r.Waiting(t.Context(), requestFor(1).Session)
		require.Len(t, list, 10)
		assert.Equal(t, requestFor(1).ID, list[0].ID, "oldest first")
		wait(t, r, requestFor(5))
		assert.Len(t, r.Waiting(t.Context(), requestFor(1).Session), 10, "a redial is no new one")

		other := requestFor(100)
		other.Session = uuid.New()
		wait(t, r, other)
		assert.Len(t, r.Waiting(t.Context(), other.Session), 1, "each session has its own")
		r.Leave(t.Context(), requestFor(7).ID)
		synctest.Wait()
		assert.Len(t, r.Waiting(t.Context(), requestFor(1).Session), 9)
	})
}

func TestRelay_RefusesWhatIsNoRequest(t *testing.T) {
	r := relayTo(&recorder{})
	q := requestFor(1)
	q.ID = "../../etc/passwd"
	d, err := r.Wait(t.Context(), claudeask.Asks{}, q)
	assert.Nil(t, d)
	assert.ErrorIs(t, err, talk.ErrBadRequest)
}

// TestRelay_Crowd: many sessions, hooks that redial and break off, and two who decide each.
func TestRelay_Crowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		r := relayTo(h)
		h.asked = func(_ context.Context, q Request) error {
			go func() { _ = r.Decide(t.Context(), q.ID, allow(q)) }()
			go func() { _ = r.Decide(t.Context(), q.ID, no(q)) }()
			return nil
		}
		var wg sync.WaitGroup
		for n := range 200 {
			q := requestFor(n)
			q.Session = uuid.New()
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%3)*time.Millisecond)
				wg.Go(func() {
					defer cancel()
					_, err := r.Wait(ctx, claudeask.Asks{}, q)
					assert.NoError(t, err)
				})
			}
		}
		wg.Wait()
		synctest.Wait()
		assert.Empty(t, r.requests, "nothing stays")
		assert.NotContains(t, h.recorded(), "TWO")
	})
}
