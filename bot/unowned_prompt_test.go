package bot_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/disk"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// killedAtCard runs do until it writes a card, and ends it there, as a kill does.
func killedAtCard(t *testing.T, w *chattest.World, do func() error) {
	t.Helper()
	killed, over := false, make(chan struct{})
	end := disk.Fail(func(op, path string) error {
		if op == "create" && filepath.Dir(path) == filepath.Join(w.Dir, "cards") {
			killed = true
			runtime.Goexit()
		}
		return nil
	})
	defer end()
	go func() {
		defer close(over)
		_ = do()
	}()
	<-over
	require.True(t, killed)
}

// TestP4_LeftPromptIsAskedAbout: a prompt awaits an answer, and no message asks for it. The next
// start asks, once.
func TestP4_LeftPromptIsAskedAbout(t *testing.T) {
	asked := func(state inbox.State, of session.State) func(*testing.T, *chattest.World) inbox.Entry {
		return func(t *testing.T, w *chattest.World) inbox.Entry {
			return w.Prompt(t, w.Session(t, "api", of), "text", state)
		}
	}
	tests := []struct {
		name    string
		leave   func(*testing.T, *chattest.World) inbox.Entry
		says    i18n.Key
		answers i18n.Key // a button of the question
	}{
		{"killed while a stop brings it back", func(t *testing.T, w *chattest.World) inbox.Entry {
			r := w.NewCurrentSession(t, "api", session.Running)
			e := w.Prompt(t, r, "text", inbox.Typing)
			require.NoError(t, w.Inbox.Finish(e.Key))
			killedAtCard(t, w, func() error {
				return w.SessionNews(t.Context(), r, news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: "text"}})
			})
			require.Equal(t, inbox.Asked, w.EntryState(e.Key))
			return e
		}, i18n.LeftAsk, i18n.ButtonSend},
		{"the card is damaged", func(t *testing.T, w *chattest.World) inbox.Entry {
			w.NewCurrentSession(t, "api", session.Running)
			key := w.HearSent(t, "text", time.Now().Add(-time.Hour))
			cards, err := filepath.Glob(filepath.Join(w.Dir, "cards", "*.json"))
			require.NoError(t, err)
			require.Len(t, cards, 1)
			require.NoError(t, os.Truncate(cards[0], 5))
			e, err := w.Inbox.Load(key)
			require.NoError(t, err)
			return e
		}, i18n.LeftAsk, i18n.ButtonSend},
		{"its session is over", asked(inbox.Asked, session.Archived), i18n.NotDelivered, i18n.ButtonResumeAndSend},
		{"it may have been typed", asked(inbox.Unproven, session.Running), "", i18n.ButtonSendAgain},
		{"its session is unknown", func(t *testing.T, w *chattest.World) inbox.Entry {
			w.Session(t, "other", session.Running)
			return w.Prompt(t, session.Record{ID: uuid.New()}, "text", inbox.Asked)
		}, i18n.NotDelivered, i18n.ButtonDrop},
		{"no session gets it yet", func(t *testing.T, w *chattest.World) inbox.Entry {
			w.Session(t, "other", session.Running)
			return w.Prompt(t, session.Record{}, "text", inbox.Asked)
		}, i18n.NotDelivered, i18n.ButtonDrop},
		{"it was said", func(t *testing.T, w *chattest.World) inbox.Entry {
			e := w.Prompt(t, w.Session(t, "api", session.Running), "text", inbox.Asked)
			e.Spoken = "text"
			require.NoError(t, w.Inbox.Save(e))
			return e
		}, i18n.VoiceAsk, i18n.ButtonSend},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			e := tt.leave(t, w)
			before := len(w.Telegram.AnswersSent())
			for range 2 { // the second start asks nothing
				w.Restart(t)
				require.NoError(t, w.Review(t.Context(), time.Second))
				w.Work(t)
				require.Len(t, w.Telegram.AnswersSent()[before:], 1)
			}
			question := w.LastSent(t)
			assert.Equal(t, e.MessageID, question.ReplyTo)
			if tt.says != "" {
				assert.Contains(t, question.Text.Text, w.Named(tt.says, "api"))
			}
			assert.Contains(t, chattest.Words(question), w.Word(tt.answers))
			if tt.answers == i18n.ButtonSend {
				require.NoError(t, w.TapShown(t, chattest.Alice, question, i18n.ButtonSend))
				assert.Equal(t, inbox.Held, w.EntryState(e.Key))
			}
		})
	}
}

// TestP4_LeftPromptWithoutSessionsIsReported: no open session could get it, so that no question
// helps.
func TestP4_LeftPromptWithoutSessionsIsReported(t *testing.T) {
	w := chattest.NewWorld(t)
	e := w.Prompt(t, session.Record{ID: uuid.New()}, "text", inbox.Asked)
	require.NoError(t, w.Review(t.Context(), time.Second))
	assert.Contains(t, w.Telegram.Last(t).Text.Text, w.Word(i18n.NotDelivered)+"\ntext")
	assert.Empty(t, w.EntryState(e.Key))
}
