package hooks

import (
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/waittest"
)

// claim writes an event of a process that names a conversation; the prompt names the event.
func claim(t *testing.T, dir, launch, conversation, prompt string, when time.Time) {
	t.Helper()
	require.NoError(t, hookwire.WriteEvent(dir, hookwire.Event{Version: 1, Name: hookwire.UserPromptSubmit, Received: when, Launch: launch,
		AgentPID: 5, SessionID: conversation, Prompt: prompt}))
}

// named is a sink with a presence file that names one conversation.
type named struct {
	*sink
	conversation string // "": there is no presence file
}

func newNamed(conversation string) *named {
	n := &named{conversation: conversation}
	n.sink = newSink(func(e hookwire.Event, _ int) error {
		switch n.conversation {
		case e.SessionID:
			return nil
		case "":
			return fmt.Errorf("test: %w", ErrNotNamed)
		}
		return fmt.Errorf("test: %w", ErrContradicted)
	})
	return n
}

func TestP9_UnprovenEventIsKeptThenRejected(t *testing.T) {
	tests := []struct {
		name         string
		conversation string
		timeout      time.Duration
	}{
		{"contradicted", uuid.NewString(), contradictedTimeout},
		{"no presence file", "", notNamedTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newNamed(tt.conversation)
			e, dir := newEvents(t, s)
			now := time.Now()
			e.now = func() time.Time { return now }
			claim(t, dir, "a", uuid.NewString(), "forged", now)
			require.NoError(t, e.Drain(t.Context()))
			now = now.Add(tt.timeout - 1)
			require.NoError(t, e.Drain(t.Context()))
			assert.Len(t, left(t, dir, "events"), 1)
			assert.Empty(t, left(t, dir, "quarantine"))
			due, err := e.pass(t.Context(), false)
			require.NoError(t, err)
			assert.Equal(t, now.Add(1), due)

			now = now.Add(1)
			due, err = e.pass(t.Context(), false)
			require.NoError(t, err)
			assert.Zero(t, due)
			assert.Empty(t, left(t, dir, "events"))
			assert.Len(t, left(t, dir, "quarantine"), 2)
			assert.Empty(t, s.have())
		})
	}
}

// A presence file may name another conversation for a second more than once.
func TestP9_InterruptedContradictionBeginsAgain(t *testing.T) {
	s := newNamed(uuid.NewString())
	other := s.conversation
	e, dir := newEvents(t, s)
	now := time.Now()
	e.now = func() time.Time { return now }
	claim(t, dir, "a", uuid.NewString(), "early", now)
	for _, s.conversation = range []string{other, "", other} {
		require.NoError(t, e.Drain(t.Context()))
		now = now.Add(contradictedTimeout - 1)
	}
	require.NoError(t, e.Drain(t.Context()))
	assert.Empty(t, left(t, dir, "quarantine"))
	now = now.Add(1)
	require.NoError(t, e.Drain(t.Context()))
	assert.Len(t, left(t, dir, "quarantine"), 2)
}

func TestP8_KeptEventSurvivesRestart(t *testing.T) {
	own := uuid.NewString()
	s := newNamed("")
	e, dir := newEvents(t, s)
	claim(t, dir, "a", own, "early", time.Now())
	require.NoError(t, e.Drain(t.Context()))
	assert.Len(t, left(t, dir, "events"), 1)

	again := newNamed(own)
	require.NoError(t, NewEvents(dir, again, nil, slog.New(slog.DiscardHandler)).Drain(t.Context()))
	assert.Equal(t, []string{"early"}, again.have())
	assert.Empty(t, left(t, dir, "events"))
}

// A forged event may name any launch, so it must not hold up the launch's own events.
func TestP9_KeptEventDelaysItsConversationOnly(t *testing.T) {
	own, forged := uuid.NewString(), uuid.NewString()
	s := newNamed(own)
	e, dir := newEvents(t, s)
	now := time.Now()
	for i, id := range []string{forged, own, forged, own} {
		claim(t, dir, "a", id, strconv.Itoa(i), now.Add(time.Duration(i)))
	}
	require.NoError(t, e.Drain(t.Context()))
	assert.Equal(t, []string{"1", "3"}, s.have())
	s.conversation = forged
	require.NoError(t, e.Drain(t.Context()))
	assert.Equal(t, []string{"1", "3", "0", "2"}, s.have())
}

func TestPresenceDecidesKeptEventAgain(t *testing.T) {
	own := uuid.NewString()
	s := newNamed("")
	e, dir := newEvents(t, s)
	e.now = func() time.Time { return time.Time{} } // nothing is ever due
	claim(t, dir, "a", own, "early", time.Now())
	running(t, e)
	waittest.Until(t, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.kept) == 1
	})
	s.mu.Lock()
	s.conversation = own
	s.mu.Unlock()
	e.PresenceChanged(4711)
	e.PresenceChanged(5)
	<-s.news
	assert.Equal(t, []string{"early"}, s.have())
}
