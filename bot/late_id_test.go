package bot_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// lostCopy opens the page of /loop twice in the chat: the id of message 1 is lost in a crash.
func lostCopy(t *testing.T, w *chattest.World) {
	t.Helper()
	w.Failpoint = func(name string) {
		if name == "card-sent" {
			runtime.Goexit() // killed
		}
	}
	died := make(chan struct{})
	go func() {
		defer close(died)
		w.MustHear(t, "/loop")
	}()
	<-died
	w.Failpoint = nil
	w.Restart(t)
	require.Len(t, w.Telegram.Sent, 2)
}

// A person replies to a question before ccbot has the id of its message.
func TestP4_ReplyPrecedesQuestionID(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
	}{
		{"the id is late", nil},
		{"the id is lost", errors.New("connection reset by peer")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				w.Session(t, "other", session.Running)
				w.NewCurrentSession(t, "api", session.Running)
				w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
					w.Telegram.OnSend = nil
					w.AnswerShown(t, w.Telegram.LastID()+1, m, "make the tests pass")
					return tt.err
				}
				w.MustHear(t, "/loop")
				w.Work(t)
				assert.Contains(t, w.Telegram.Last(t).Text.Text, "reply with the check")
				assert.Empty(t, w.Lifecycle.Done(), "nothing is typed")
			})
		})
	}
}

// A crash has lost the id of a question's message, so the chat has the question twice. The person
// may answer either one.
func TestP4_ReplyToLostCopyIsAnswer(t *testing.T) {
	for _, copied := range []int{1, 2} {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			w.NewCurrentSession(t, "api", session.Running)
			lostCopy(t, w)
			w.AnswerShown(t, copied, w.Telegram.Sent[copied-1], "make the tests pass")
			w.Work(t)
			assert.Contains(t, w.Telegram.Last(t).Text.Text, "reply with the check")
			assert.Empty(t, w.Lifecycle.Done(), "nothing is typed")
		})
	}
}

// A reply to an earlier form of an open question may be meant for it, and is not typed.
func TestP7_ReplyToEarlierFormIsNotTyped(t *testing.T) {
	for _, tt := range []struct {
		name string
		asks func(t *testing.T, w *chattest.World)
		to   int
		bare bool // the message has lost its buttons
	}{
		{"another copy", lostCopy, 1, false},
		{"the message above the question", func(t *testing.T, w *chattest.World) { w.MustHear(t, "/loop"); w.Work(t); w.Work(t) }, 1, true},
		{"the message above the question, before the edit", func(t *testing.T, w *chattest.World) { w.MustHear(t, "/loop"); w.Work(t) }, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				r := w.NewCurrentSession(t, "api", session.Running)
				tt.asks(t, w)
				shown, last := w.Telegram.Sent[tt.to-1], w.Telegram.LastID()
				w.AnswerShown(t, last, w.Telegram.Sent[last-1], "make the tests pass")
				w.Work(t)
				w.Restart(t)
				if tt.bare {
					shown.Buttons = nil
				}
				require.NoError(t, w.Sent(chattest.AtAlice, tt.to, r.ID))
				key := w.AnswerShown(t, tt.to, shown, "make test")
				w.Work(t)
				assert.Equal(t, inbox.Asked, w.EntryState(key))
				assert.Equal(t, w.Word(i18n.WhichReply), w.LastSent(t).Text.Text)
				assert.Empty(t, w.Lifecycle.Done(), "nothing is typed")
				require.NoError(t, w.Chooses(t, w.LastSent(t), "api"))
				assert.Equal(t, []string{"queue " + key + " for " + r.ID.String()}, w.Lifecycle.Done())
			})
		})
	}
}

// A message with buttons whose card and session are unknown may be a question of an earlier ccbot.
func TestP7_ReplyToUnknownQuestionIsNotTyped(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Running)
		unknown := outbox.Message{To: chattest.AtAlice, Text: chattest.Plain("?"), Buttons: [][]outbox.Button{{{Text: "Yes", Data: "yes"}}}}
		key := w.AnswerShown(t, 700, unknown, "yes, do")
		w.Work(t)
		assert.Equal(t, inbox.Asked, w.EntryState(key))
		assert.Empty(t, w.Lifecycle.Done(), "nothing is typed")
	})
}

// A reply to a message of a session whose id is unknown goes to that session.
func TestP4_ReplyToUnsavedMessageFindsSession(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.Session(t, "other", session.Running)
		w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		w.Failpoint = func(name string) {
			if name == "card-sent" {
				runtime.Goexit() // killed
			}
		}
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		w.Failpoint = nil
		w.Restart(t)
		key := w.AnswerShown(t, 1, w.Telegram.Sent[0], "first tell me why")
		assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
	})
}

// A card that takes no replies asks nothing: a reply to its earlier form goes to its session.
func TestP4_ReplyToEarlierFormOfRequestFindsSession(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.Session(t, "other", session.Running)
		w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		shown := w.Telegram.Sent[0]
		earlier := strings.Split(shown.Buttons[0][0].Data, ":")
		earlier[1] = strings.Repeat("0", len(earlier[1]))
		shown.Buttons = [][]outbox.Button{{{Text: "Yes", Data: strings.Join(earlier, ":")}}}
		key := w.AnswerShown(t, 700, shown, "first tell me why")
		assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
	})
}
