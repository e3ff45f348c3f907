package bot_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

func TestPromptIsSavedThenQueued(t *testing.T) {
	for _, tt := range []struct {
		name, text, typed string
		class             talk.PromptClass
	}{
		{"a text", "fix the bug", "fix the bug", talk.ClassPlain},
		{"lines", "a\r\nb", "a\nb", talk.ClassPlain},
		{"the agent's own command", "//help me", "/help me", talk.ClassCommand},
		{"a command of the agent's", "/compact keep names", "/compact keep names", talk.ClassCommand},
		{"the bot's name is cut", "/compact@cc_bot keep", "/compact keep", talk.ClassCommand},
		{"bash mode", "!ls", "!ls", talk.ClassBash},
		{"only a slash", "/", "/", talk.ClassCommand},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			w.Lifecycle.OnQueue = func(_ uuid.UUID, key string) error {
				e, err := w.Inbox.Load(key)
				require.NoError(t, err)
				assert.Equal(t, []any{r.ID, chattest.AtAlice, tt.typed, tt.class, inbox.Held},
					[]any{e.Session, e.Conversation, e.Text, e.Class, e.State}, "on disk as offered before it is queued")
				return nil
			}
			key := w.MustHear(t, tt.text)
			assert.Equal(t, []string{"queue " + key + " for " + r.ID.String()}, w.Lifecycle.Done())
			assert.Equal(t, []string{"react 👀 to 1001 in 7", "typing in 7"}, w.Telegram.Done())
		})
	}
}

func TestAgentCommandIsUnchanged(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	for _, text := range []string{"/review\n  indented\nlines", "/srv/log says:\n\n  boom", "/compact  two blanks"} {
		e, err := w.Inbox.Load(w.MustHear(t, text))
		require.NoError(t, err)
		assert.Equal(t, text, e.Text)
	}
}

func TestOtherBotsCommandIsNotTyped(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, r.ID))
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.GroupChat(chattest.Ours), Text: "/start@other_bot"})
	require.NoError(t, w.Handle(t.Context(), key, u))
	w.Silent(t)
}

// A text that looks like a command for another bot may be a path.
func TestP4_TextWithAtSignIsPrompt(t *testing.T) {
	for text, chat := range map[string]models.Chat{
		"/deploy@prod now":              chattest.PrivateChat(chattest.Alice),
		"/start@other_bot":              chattest.PrivateChat(chattest.Alice),
		"/srv/bob@work/main.go is gone": chattest.GroupChat(chattest.Ours),
		"/home/bob@example.org":         chattest.GroupChat(chattest.Ours),
	} {
		t.Run(text, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.Running)
			require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: chat.ID}, r.ID))
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chat, Text: text})
			require.NoError(t, w.Handle(t.Context(), key, u))
			e, err := w.Inbox.Load(key)
			require.NoError(t, err)
			assert.Equal(t, text, e.Text)
		})
	}
}

func TestP4_TextWithoutSessionIsReported(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(w *chattest.World)
		text    string
		want    func(w *chattest.World) []string
		buttons int
	}{
		{"blank", func(w *chattest.World) { w.NewCurrentSession(t, "api", session.Running) }, " \n\t ",
			func(w *chattest.World) []string { return []string{chattest.Warning + w.Word(i18n.BlankText)} }, 0},
		{"control characters only", func(w *chattest.World) { w.NewCurrentSession(t, "api", session.Running) }, "\x1b\x07",
			func(w *chattest.World) []string { return []string{chattest.Warning + w.Word(i18n.BlankText)} }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			tt.prepare(w)
			key := w.MustHear(t, tt.text)
			assert.Equal(t, tt.want(w), w.Telegram.Texts())
			assert.Len(t, chattest.Data(w.Telegram.Last(t)), tt.buttons)
			assert.Equal(t, 1001, w.Telegram.Last(t).ReplyTo, "under the message")
			assert.Equal(t, chattest.ReactionNone, w.Telegram.Reaction(1001))
			assert.Empty(t, w.Lifecycle.Done())
			e, err := w.Inbox.Load(key)
			require.NoError(t, err)
			assert.Equal(t, inbox.Accepted, e.State, "the intake finishes it: it is told")
		})
	}
}

func TestP4_UnreportedTextStays(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Telegram.OnPost = chattest.Refuse
	for _, state := range []session.State{"", session.Archived, session.Running} {
		text := "hi"
		if state != "" {
			w.NewCurrentSession(t, "api", state)
		}
		if state == session.Running {
			text = " "
		}
		key, err := w.Hear(t, text)
		require.ErrorIs(t, err, chattest.ErrDisk, "%q", state)
		e, err := w.Inbox.Load(key)
		require.NoError(t, err)
		assert.Equal(t, inbox.Accepted, e.State)
	}
}

func TestP4_RefusedPromptIsReportedAndKept(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnQueue = func(uuid.UUID, string) error {
		w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
		return view.ErrNoAgent
	}
	key := w.MustHear(t, "hi")
	assert.Equal(t, []string{chattest.Lines(chattest.Warning+w.Named(i18n.AlreadyEnded, "api"), w.Word(i18n.NotDelivered))}, w.Telegram.AnswersSent())
	assert.Equal(t, []string{chattest.ReactionStored, chattest.ReactionNone}, slices.Compact(w.Telegram.Reactions(1001)))
	e, err := w.Inbox.Load(key)
	require.NoError(t, err)
	assert.Equal(t, []any{inbox.Asked, r.ID, "hi"}, []any{e.State, e.Session, e.Text})
	assert.Equal(t, w.WordsOf(i18n.ButtonResumeAndSend, i18n.ButtonDrop), chattest.Words(w.LastSent(t)))
}

func TestP4_RefusedPromptEndsOnlyWhenReported(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnQueue = func(uuid.UUID, string) error {
		w.Records.Change(r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
		return view.ErrNoAgent
	}
	w.Telegram.OnPost = chattest.Refuse
	key, u := w.AcceptText(t, "hi")
	require.ErrorIs(t, w.HandleText(t, key, u), chattest.ErrDisk)
	assert.Equal(t, inbox.Accepted, w.EntryState(key))
	w.Telegram.OnPost = nil
	require.NoError(t, w.HandleText(t, key, u))
	assert.Contains(t, w.Telegram.Last(t).Text.Text, w.Word(i18n.NotDelivered))
	assert.Len(t, w.Lifecycle.Done(), 1, "what was told not to be sent is not queued")
}

func TestP4_UnsavedPromptIsRetried(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	w.Inbox.OnSave = func(inbox.Entry) error { return chattest.ErrDisk }
	key, err := w.Hear(t, "hi")
	require.ErrorIs(t, err, chattest.ErrDisk)
	assert.Empty(t, w.Lifecycle.Done())
	e, err := w.Inbox.Load(key)
	require.NoError(t, err)
	assert.Equal(t, inbox.Accepted, e.State, "the intake hands it on again")
}

func TestP4_UnqueuedPromptIsRetried(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return chattest.ErrDisk }
	key, err := w.Hear(t, "hi")
	require.ErrorContains(t, err, chattest.ErrDisk.Error())
	e, err := w.Inbox.Load(key)
	require.NoError(t, err)
	assert.Equal(t, inbox.Accepted, e.State, "the intake hands it on again")
}

// A prompt has the place of its turn with it. While it waits, the session stays where people read
// the turn that runs.
func TestPromptTakesItsPlaceAlong(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	key := w.MustHear(t, "hi")
	assert.Equal(t, chattest.InGroup, w.Record(t, r.ID).Conversation)
	assert.Equal(t, chattest.AtAlice, w.Lifecycle.Offered[key].To)
}

func TestP4_PromptWithoutSessionIsReported(t *testing.T) {
	w := chattest.NewWorld(t)
	one := w.Prompt(t, session.Record{ID: uuid.New()}, "one", inbox.Held)
	blank := w.Prompt(t, session.Record{ID: uuid.New()}, "\u2800", inbox.Held)
	require.NoError(t, w.Prompts.Homeless(t.Context(), []string{one.Key, blank.Key}))
	assert.Equal(t, []string{chattest.Warning + chattest.Lines(w.Word(i18n.NotDelivered), "one"), chattest.Warning + w.Word(i18n.NotDelivered)}, w.Telegram.Texts())
	assert.Equal(t, []any{one.MessageID, chattest.ReactionNone}, []any{w.Telegram.Last(t).ReplyTo, w.Telegram.Reaction(one.MessageID)})
	for _, key := range []string{one.Key, blank.Key} {
		_, err := w.Inbox.Load(key)
		assert.ErrorIs(t, err, inbox.ErrNoEntry)
	}
	for _, state := range []inbox.State{inbox.Typing, inbox.Unproven} {
		typed := w.Prompt(t, session.Record{ID: uuid.New()}, "typed", state)
		require.NoError(t, w.Prompts.Homeless(t.Context(), []string{typed.Key}))
		assert.Equal(t, chattest.Warning+chattest.Lines(w.Word(i18n.UnprovenAdrift), "typed"), w.Telegram.Last(t).Text.Text, "nobody says that it went nowhere")
	}
	two := w.Prompt(t, session.Record{ID: uuid.New()}, "two", inbox.Held)
	w.Telegram.OnPost = chattest.Refuse
	require.ErrorIs(t, w.Prompts.Homeless(t.Context(), []string{two.Key}), chattest.ErrDisk)
	_, err := w.Inbox.Load(two.Key)
	assert.NoError(t, err, "what is not told stays")
}

func TestHandleKnowsTheFailpoint(t *testing.T) {
	w := chattest.NewWorld(t)
	var points []string
	w.Failpoint = func(name string) { points = append(points, name) }
	w.MustHear(t, "/status nobody")
	assert.Equal(t, []string{"accepted"}, points)
	assert.NoError(t, w.Handle(context.Background(), "1", nil))
}
