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
		yes      i18n.Key
		final    session.State
	}{
		{"kill", i18n.KillConfirm, i18n.ButtonKill, session.Archived},
		{"done", i18n.DoneConfirm, i18n.ButtonDone, session.Completed},
	} {
		t.Run(tt.verb, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			w.mustHear(t, "/"+tt.verb)
			assert.Equal(t, []string{w.named(tt.question, "api")}, w.sender.texts())
			m := w.sender.last(t)
			assert.Equal(t, w.wordsOf(tt.yes, i18n.ButtonCancel), words(m))
			assert.Empty(t, w.sessions.done(), "nothing is done before the answer")

			require.NoError(t, w.tapShown(t, bob, m, tt.yes))
			require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonCancel))
			assert.Empty(t, w.sessions.done(), "only who asked")
			refusal := "answer query: " + w.word(i18n.NotForYou)
			assert.Equal(t, []string{refusal, refusal}, w.sender.done()[1:])

			require.NoError(t, w.tapShown(t, alice, m, tt.yes))
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
	require.NoError(t, w.tapShown(t, alice, w.sender.last(t), i18n.ButtonCancel))
	assert.Equal(t, w.word(i18n.Cancelled), w.sender.lastEdit(t).Text.Text)
	assert.Empty(t, w.sender.lastEdit(t).Buttons)
	assert.Empty(t, w.sessions.done())
}

func TestWhoCanBeEnded(t *testing.T) {
	for _, s := range session.States() {
		t.Run(string(s), func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Running)
			old := w.heardShown(t, "/kill api")
			w.records.change(r.ID, func(r *session.Record) { r.State = s })
			w.mustHear(t, "/kill api")
			asked := len(words(w.sender.last(t))) > 0
			assert.Equal(t, s.Live() || s == session.CleanupFailed, asked)
			require.NoError(t, w.tapShown(t, alice, old, i18n.ButtonKill))
			assert.Equal(t, asked, len(w.sessions.done()) > 0, "an old button does no more than the command")
			if !asked {
				assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
			}
		})
	}
}

// The receipt is told where the session is shown, so it moves to who ends it; what is current there
// stays.
func TestEndingAnotherSessionKeepsTheCurrentOne(t *testing.T) {
	w := newWorld(t)
	current := w.currentSession(t, "web", session.Running)
	r := w.session(t, "api", session.Running)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
	w.mustHear(t, "/kill api")
	require.NoError(t, w.tapShown(t, alice, w.sender.last(t), i18n.ButtonKill))
	assert.Equal(t, []string{"move " + r.ID.String() + " to 7", "archive " + r.ID.String() + " as archived"}, w.sessions.done())
	got, err := w.Chats.Current(atAlice)
	require.NoError(t, err)
	assert.Equal(t, current.ID, got)
}

func TestAnEndThatFailsIsTold(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	kill, done := w.heardShown(t, "/kill"), w.heardShown(t, "/done")
	w.sessions.archive = func(uuid.UUID) error { return deep(&lifecycle.StateError{State: session.Archived}) }
	w.sender.edit = func(outbox.Message) error { return &outbox.Refused{Err: errDisk} }
	require.NoError(t, w.tapShown(t, alice, kill, i18n.ButtonKill))
	assert.Equal(t, []string{w.named(i18n.AlreadyEnded, "api")}, w.sender.texts())
	w.sessions.archive = func(uuid.UUID) error { return errDisk }
	require.NoError(t, w.tapShown(t, alice, done, i18n.ButtonDone))
	assert.Equal(t, w.word(i18n.InternalError), w.sender.last(t).Text.Text)
}

// A question about one life of a session is not confirmed for the next.
func TestP2_AConfirmationIsForTheLifeThatWasAskedAbout(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.mustHear(t, "/kill")
	m := w.sender.last(t)
	w.records.change(r.ID, func(r *session.Record) { r.StartedAt = r.StartedAt.Add(time.Minute) })
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonKill))
	assert.Empty(t, w.sessions.done(), "it was resumed since")
	assert.Equal(t, 1, w.sender.spent)
	w.mustHear(t, "/kill")
	require.NoError(t, w.tapShown(t, alice, w.sender.last(t), i18n.ButtonKill))
	assert.Len(t, w.sessions.done(), 1)
}

// TestWhatIsShownAgainAndAgainDoesNotPileUp: of each kind the newest in a chat keep their buttons.
func TestWhatIsShownAgainAndAgainDoesNotPileUp(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		over := w.session(t, "over", session.Archived)
		for range 15 {
			w.mustHear(t, "/list")
			w.mustHear(t, "/kill")
			w.mustHear(t, "/resume")
			w.receiptShown(t, over)
			w.ghostShown(t, over, inWindow(t, 1))
			w.lost(t, "lost", session.ClosedReboot)
			w.recoveredMessage(t)
			require.NoError(t, w.Chats.SetCurrent(atAlice, r.ID))
			w.later(time.Minute)
		}
		w.later(2 * time.Hour)
		assert.Len(t, filesIn(t, w.dir, "cards"), 5*10, "ten lists, questions, offers, messages about writers, and reports")
		assert.NotEmpty(t, words(w.sender.now(w.sender.lastID())), "and the newest have their buttons")
	})
}
