package bot

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

func TestEndingAsksFirst(t *testing.T) {
	for _, tt := range []struct {
		verb     string
		question i18n.Key
		final    session.State
	}{
		{"kill", i18n.KillConfirm, session.Archived},
		{"done", i18n.DoneConfirm, session.Completed},
	} {
		t.Run(tt.verb, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			w.mustHear(t, "/"+tt.verb)
			assert.Equal(t, []string{w.named(tt.question, "api")}, w.sender.texts())
			yes, no := tt.verb+":"+ref(r.ID)+":7:"+life(r), "no:7"
			assert.Equal(t, []string{yes, no}, data(w.sender.last(t)))
			assert.Empty(t, w.sessions.done(), "nothing is done before the answer")

			require.NoError(t, w.tap(t, bob, yes))
			require.NoError(t, w.tap(t, bob, no))
			assert.Empty(t, w.sessions.done(), "only who asked")
			refusal := "answer query: " + w.word(i18n.NotForYou)
			assert.Equal(t, []string{refusal, refusal}, w.sender.done()[1:])

			require.NoError(t, w.tap(t, alice, yes))
			assert.Equal(t, []string{fmt.Sprintf("archive %s as %s", r.ID, tt.final)}, w.sessions.done())
			assert.Equal(t, w.named(i18n.Archiving, "api"), w.sender.lastEdit(t).Text.Text)
			assert.Empty(t, w.sender.lastEdit(t).Buttons)
		})
	}
}

func TestCancelEndsNothing(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	w.mustHear(t, "/kill")
	require.NoError(t, w.tap(t, alice, "no:7"))
	assert.Equal(t, w.word(i18n.Cancelled), w.sender.lastEdit(t).Text.Text)
	assert.Empty(t, w.sender.lastEdit(t).Buttons)
	assert.Empty(t, w.sessions.done())
}

func TestWhoCanBeEnded(t *testing.T) {
	for _, s := range session.States() {
		t.Run(string(s), func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", s)
			w.mustHear(t, "/kill api")
			asked := len(data(w.sender.last(t))) > 0
			assert.Equal(t, s.Live() || s == session.CleanupFailed, asked)
			require.NoError(t, w.tap(t, alice, "kill:"+ref(r.ID)+":7:"+life(r)))
			assert.Equal(t, asked, len(w.sessions.done()) > 0, "an old button does no more than the command")
			if !asked {
				assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
			}
		})
	}
}

// The receipt is told where the session is shown, so it moves to who ends it;
// what is current there stays.
func TestEndingAnotherSessionKeepsTheCurrentOne(t *testing.T) {
	w := newWorld(t)
	current := w.currentSession(t, "web", session.Running)
	r := w.session(t, "api", session.Running)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
	require.NoError(t, w.tap(t, alice, "kill:"+ref(r.ID)+":7:"+life(r)))
	assert.Equal(t, []string{"move " + r.ID.String() + " to 7", "archive " + r.ID.String() + " as archived"}, w.sessions.done())
	got, err := w.Chats.Current(atAlice)
	require.NoError(t, err)
	assert.Equal(t, current.ID, got)
}

func TestAnEndThatFailsIsTold(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.sessions.archive = func(uuid.UUID) error { return deep(&lifecycle.StateError{State: session.Archived}) }
	w.sender.edit = func(outbox.Message) error { return &outbox.Refused{Err: errDisk} }
	require.NoError(t, w.tap(t, alice, "kill:"+ref(r.ID)+":7:"+life(r)))
	assert.Equal(t, []string{w.named(i18n.AlreadyEnded, "api")}, w.sender.texts())
	w.sessions.archive = func(uuid.UUID) error { return errDisk }
	require.NoError(t, w.tap(t, alice, "done:"+ref(r.ID)+":7:"+life(r)))
	assert.Equal(t, w.word(i18n.InternalError), w.sender.last(t).Text.Text)
}

// A question about one life of a session is not confirmed for the next.
func TestP2_AConfirmationIsForTheLifeThatWasAskedAbout(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.mustHear(t, "/kill")
	yes := data(w.sender.last(t))[0]
	w.records.change(r.ID, func(r *session.Record) { r.StartedAt = r.StartedAt.Add(time.Minute) })
	require.NoError(t, w.tap(t, alice, yes))
	assert.Empty(t, w.sessions.done(), "it was resumed since")
	w.records.change(r.ID, func(r *session.Record) { r.StartedAt = r.StartedAt.Add(-time.Minute) })
	require.NoError(t, w.tap(t, alice, yes))
	assert.Len(t, w.sessions.done(), 1)
}
