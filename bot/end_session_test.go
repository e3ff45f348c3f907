package bot_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
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
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			w.MustHear(t, "/"+tt.verb)
			assert.Equal(t, []string{w.Named(tt.question, "api")}, w.Telegram.Texts())
			m := w.Telegram.Last(t)
			assert.Equal(t, w.WordsOf(tt.yes, i18n.ButtonCancel), chattest.Words(m))
			assert.Empty(t, w.Lifecycle.Done(), "nothing is done before the answer")

			require.NoError(t, w.TapShown(t, chattest.Bob, m, tt.yes))
			assert.Empty(t, w.Lifecycle.Done(), "only who asked")
			refusal := "answer query: " + w.Word(i18n.NotForYou)
			assert.Equal(t, []string{refusal}, w.Telegram.Done()[1:])

			require.NoError(t, w.TapShown(t, chattest.Alice, m, tt.yes))
			assert.Equal(t, []string{fmt.Sprintf("archive %s as %s", r.ID, tt.final)}, w.Lifecycle.Done())
			assert.Contains(t, w.Telegram.Done(), "answer query: ", "the end was not on disk yet")
			assert.Equal(t, m.Text.Text, w.Telegram.LastEdit(t).Text.Text, "nothing that is untrue when it has ended")
			assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
		})
	}
}

// TestEndingNamesWhatEndsToo: a person may not know what the agent has beside its turns.
func TestEndingNamesWhatEndsToo(t *testing.T) {
	for _, tt := range []struct {
		name string
		look view.Status
		want string
	}{
		{"a schedule and a command", view.Status{Phase: talk.PhaseIdle, Schedules: 1, Background: true, Commands: 1}, "1 background command, 1 schedule of its own"},
		{"an agent", view.Status{Phase: talk.PhaseWorking, Agents: 1}, "1 agent in the background"},
		{"the command of a turn", view.Status{Phase: talk.PhaseWorking, Background: true, Commands: 1}, ""},
		{"nobody knows", view.Status{Phase: talk.PhaseIdle, Background: true}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.NewCurrentSession(t, "api", session.Running)
			w.Lifecycle.OnLook = tt.look
			w.MustHear(t, "/kill")
			want := w.Named(i18n.KillConfirm, "api")
			if tt.want != "" {
				want += "\nThis also ends: " + tt.want + "."
			}
			assert.Equal(t, want, w.Telegram.Last(t).Text.Text)
		})
	}
}

func TestCancelEndsNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "/kill")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonCancel))
	assert.Equal(t, w.Word(i18n.Cancelled), w.Telegram.LastEdit(t).Text.Text)
	assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
	assert.Empty(t, w.Lifecycle.Done())
}

func TestEndableStates(t *testing.T) {
	for _, s := range session.States() {
		t.Run(string(s), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.Running)
			old := w.HeardShown(t, "/kill api")
			w.Records.Change(r.ID, func(r *session.Record) { r.State = s })
			w.MustHear(t, "/kill api")
			asked := slices.Contains(chattest.Words(w.Telegram.Last(t)), w.Word(i18n.ButtonKill))
			assert.Equal(t, s.Live() || s == session.CleanupFailed, asked)
			require.NoError(t, w.TapShown(t, chattest.Alice, old, i18n.ButtonKill))
			assert.Equal(t, asked, len(w.Lifecycle.Done()) > 0, "an old button does no more than the command")
			if !asked {
				assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
			}
		})
	}
}

// An end moves nothing: the receipt is sent where the session is shown, which the person who ends it is
// told. The current session there stays.
func TestEndingOtherSessionKeepsCurrentOne(t *testing.T) {
	w := chattest.NewWorld(t)
	current := w.NewCurrentSession(t, "web", session.Running)
	r := w.Session(t, "api", session.Running)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	w.MustHear(t, "/kill api")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonKill))
	assert.Equal(t, []string{"archive " + r.ID.String() + " as archived"}, w.Lifecycle.Done())
	assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Word(i18n.EndsElsewhere, i18n.Args{"Name": "api"}))
	got := w.Chats.Current(chattest.AtAlice)
	assert.Equal(t, current.ID, got)
}

func TestFailedEndIsReported(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	kill, done := w.HeardShown(t, "/kill"), w.HeardShown(t, "/done")
	w.Lifecycle.OnArchive = func(uuid.UUID) error { return chattest.Deep(&lifecycle.StateError{State: session.Archived}) }
	w.Telegram.OnEdit = func(outbox.Message) error { return &outbox.Refused{Err: chattest.ErrDisk} }
	require.NoError(t, w.TapShown(t, chattest.Alice, kill, i18n.ButtonKill))
	assert.Equal(t, []string{w.Named(i18n.AlreadyEnded, "api")}, w.Telegram.Texts())
	w.Lifecycle.OnArchive = func(uuid.UUID) error { return chattest.ErrDisk }
	require.NoError(t, w.TapShown(t, chattest.Alice, done, i18n.ButtonDone))
	assert.Equal(t, w.Word(i18n.InternalError), w.Telegram.Last(t).Text.Text)
}

// A question about one life of a session is not confirmed for the next.
func TestP2_ConfirmationIsForShownLaunch(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "/kill")
	m := w.Telegram.Last(t)
	w.Records.Change(r.ID, func(r *session.Record) { r.StartedAt = r.StartedAt.Add(time.Minute) })
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonKill))
	assert.Empty(t, w.Lifecycle.Done(), "it was resumed since")
	assert.Equal(t, 1, w.Telegram.Spent)
	w.MustHear(t, "/kill")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonKill))
	assert.Len(t, w.Lifecycle.Done(), 1)
}

// TestRepeatedNoticesDoNotPileUp: of each kind the newest in a chat keep their buttons.
func TestRepeatedNoticesDoNotPileUp(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		over := w.Session(t, "over", session.Archived)
		for range 15 {
			w.MustHear(t, "/list")
			w.MustHear(t, "/kill")
			w.MustHear(t, "/resume")
			w.ReceiptShown(t, over)
			w.EndedWriterShown(t, over, chattest.InWindow(t, 1))
			w.Lost(t, "lost", session.ClosedReboot)
			w.RecoveredMessage(t)
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, r.ID))
			w.Later(time.Minute)
		}
		w.Later(2 * time.Hour)
		assert.Len(t, chattest.FilesIn(t, w.Dir, "cards"), 5*10, "ten pages, questions, receipts, messages about writers, and reports")
		assert.NotEmpty(t, chattest.Words(w.Telegram.Now(w.Telegram.LastID())), "and the newest have their buttons")
	})
}
