package bot

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

var errDisk = errors.New("no space left on device")

func refuse(outbox.Message) error { return errDisk }

func TestAPromptIsKeptThenQueued(t *testing.T) {
	for _, tt := range []struct {
		name, text, typed string
		class             lifecycle.Class
	}{
		{"a text", "fix the bug", "fix the bug", lifecycle.ClassPrompt},
		{"lines", "a\r\nb", "a\nb", lifecycle.ClassPrompt},
		{"the agent's own command", "//help me", "/help me", lifecycle.ClassCommand},
		{"a command of the agent's", "/compact keep names", "/compact keep names", lifecycle.ClassCommand},
		{"the bot's name is cut", "/compact@cc_bot keep", "/compact keep", lifecycle.ClassCommand},
		{"bash mode", "!ls", "!ls", lifecycle.ClassBash},
		{"only a slash", "/", "/", lifecycle.ClassCommand},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			w.sessions.queue = func(_ uuid.UUID, key string) error {
				e, err := w.entries.Load(key)
				require.NoError(t, err)
				assert.Equal(t, []any{r.ID, atAlice, tt.typed, string(tt.class), inbox.Accepted},
					[]any{e.Session, e.Conversation, e.Text, e.Class, e.State}, "on disk before it is queued")
				return nil
			}
			key := w.mustHear(t, tt.text)
			assert.Equal(t, []string{"queue " + key + " for " + r.ID.String()}, w.sessions.done())
			assert.Equal(t, []string{"react 👀 to 1001 in 7", "typing in 7"}, w.sender.done())
		})
	}
}

func TestACommandOfTheAgentKeepsItsShape(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	for _, text := range []string{"/review\n  indented\nlines", "/srv/log says:\n\n  boom", "/compact  two blanks"} {
		e, err := w.entries.Load(w.mustHear(t, text))
		require.NoError(t, err)
		assert.Equal(t, text, e.Text)
	}
}

func TestACommandForAnotherBotIsNotTyped(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	require.NoError(t, w.Chats.SetCurrent(inGroup, r.ID))
	key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: groupChat(ours), Text: "/start@other_bot"})
	require.NoError(t, w.Handle(t.Context(), key, u))
	w.silent(t)
}

// What looks like a command for another bot may be a path.
func TestP4_ATextWithAnAtSignIsNoCommandForAnotherBot(t *testing.T) {
	for text, chat := range map[string]models.Chat{
		"/deploy@prod now":              privateChat(alice),
		"/start@other_bot":              privateChat(alice),
		"/srv/bob@work/main.go is gone": groupChat(ours),
		"/home/bob@example.org":         groupChat(ours),
	} {
		t.Run(text, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Running)
			require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: chat.ID}, r.ID))
			key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: chat, Text: text})
			require.NoError(t, w.Handle(t.Context(), key, u))
			e, err := w.entries.Load(key)
			require.NoError(t, err)
			assert.Equal(t, text, e.Text)
		})
	}
}

func TestP4_ATextThatGoesNowhereIsTold(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		text    string
		want    func(w *world) []string
		buttons int
	}{
		{"no session at all", func(*world) {}, "hi",
			func(w *world) []string {
				return []string{lines(warning+w.word(i18n.NoSession), w.word(i18n.NotDelivered))}
			}, 0},
		{"blank", func(w *world) { w.currentSession(t, "api", session.Running) }, " \n\t ",
			func(w *world) []string { return []string{warning + w.word(i18n.BlankText)} }, 0},
		{"control characters only", func(w *world) { w.currentSession(t, "api", session.Running) }, "\x1b\x07",
			func(w *world) []string { return []string{warning + w.word(i18n.BlankText)} }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			key := w.mustHear(t, tt.text)
			assert.Equal(t, tt.want(w), w.sender.texts())
			assert.Len(t, data(w.sender.last(t)), tt.buttons)
			assert.Equal(t, 1001, w.sender.last(t).ReplyTo, "under the message")
			assert.Equal(t, reactionNone, w.sender.reaction(1001))
			assert.Empty(t, w.sessions.done())
			e, err := w.entries.Load(key)
			require.NoError(t, err)
			assert.Equal(t, inbox.Accepted, e.State, "the intake finishes it: it is told")
		})
	}
}

func TestP4_ATextThatIsNotToldStays(t *testing.T) {
	w := newWorld(t)
	w.sender.post = refuse
	for _, state := range []session.State{"", session.Archived, session.Running} {
		text := "hi"
		if state != "" {
			w.currentSession(t, "api", state)
		}
		if state == session.Running {
			text = " "
		}
		key, err := w.hear(t, text)
		require.ErrorIs(t, err, errDisk, "%q", state)
		e, err := w.entries.Load(key)
		require.NoError(t, err)
		assert.Equal(t, inbox.Accepted, e.State)
	}
}

func TestP4_ARefusedPromptIsToldAndKept(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.sessions.queue = func(uuid.UUID, string) error {
		w.records.change(r.ID, func(r *session.Record) { r.State = session.Archived })
		return lifecycle.ErrNoAgent
	}
	key := w.mustHear(t, "hi")
	assert.Equal(t, []string{lines(warning+w.named(i18n.AlreadyEnded, "api"), w.word(i18n.NotDelivered))}, w.sender.answersSent())
	assert.Equal(t, []string{reactionStored, reactionNone}, slices.Compact(w.sender.reactions(1001)))
	e, err := w.entries.Load(key)
	require.NoError(t, err)
	assert.Equal(t, []any{inbox.Asked, r.ID, "hi"}, []any{e.State, e.Session, e.Text})
	assert.Equal(t, w.wordsOf(i18n.ButtonResumeAndSend, i18n.ButtonDrop), words(w.lastSent(t)))
}

func TestP4_ARefusedPromptIsFinishedWhereNothingBringsItsSessionBack(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.sessions.queue = func(uuid.UUID, string) error {
		w.records.change(r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
		return lifecycle.ErrNoAgent
	}
	key := w.mustHear(t, "hi")
	assert.Contains(t, w.sender.last(t).Text.Text, w.word(i18n.NotDelivered))
	assert.Equal(t, inbox.Accepted, w.entryState(key), "the intake finishes it: it is told")
}

func TestP4_ARefusedPromptIsFinishedOnlyWhenTold(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.sessions.queue = func(uuid.UUID, string) error {
		w.records.change(r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
		return lifecycle.ErrNoAgent
	}
	w.sender.post = refuse
	key, u := w.acceptText(t, "hi")
	require.ErrorIs(t, w.handle(t, key, u), errDisk)
	assert.Equal(t, inbox.Accepted, w.entryState(key))
	w.sender.post = nil
	require.NoError(t, w.handle(t, key, u))
	assert.Contains(t, w.sender.last(t).Text.Text, w.word(i18n.NotDelivered))
	assert.Len(t, w.sessions.done(), 1, "what was told not to be sent is not queued")
}

func TestP4_APromptThatCannotBeKeptIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	w.entries.save = func(inbox.Entry) error { return errDisk }
	key, err := w.hear(t, "hi")
	require.ErrorIs(t, err, errDisk)
	assert.Empty(t, w.sessions.done())
	e, err := w.entries.Load(key)
	require.NoError(t, err)
	assert.Equal(t, inbox.Accepted, e.State, "the intake hands it on again")
}

func TestP4_APromptThatCannotBeQueuedIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	w.sessions.queue = func(uuid.UUID, string) error { return errDisk }
	key, err := w.hear(t, "hi")
	require.ErrorIs(t, err, errDisk)
	e, err := w.entries.Load(key)
	require.NoError(t, err)
	assert.Equal(t, inbox.Accepted, e.State, "the intake hands it on again")
}

// The answer comes to where the session is shown.
func TestAPromptBringsItsSessionAlong(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
	w.mustHear(t, "hi")
	r, _ = w.records.Get(r.ID)
	assert.Equal(t, atAlice, r.Conversation)
}

func TestP4_APromptWithoutASessionIsTold(t *testing.T) {
	w := newWorld(t)
	one := w.prompt(t, session.Record{ID: uuid.New()}, "one", inbox.Held)
	blank := w.prompt(t, session.Record{ID: uuid.New()}, "\u2800", inbox.Held)
	require.NoError(t, w.Prompts.Homeless(t.Context(), []string{one.Key, blank.Key}))
	assert.Equal(t, []string{warning + lines(w.word(i18n.NotDelivered), "one"), warning + w.word(i18n.NotDelivered)}, w.sender.texts())
	assert.Equal(t, []any{one.MessageID, reactionNone}, []any{w.sender.last(t).ReplyTo, w.sender.reaction(one.MessageID)})
	for _, key := range []string{one.Key, blank.Key} {
		_, err := w.entries.Load(key)
		assert.ErrorIs(t, err, inbox.ErrNoEntry)
	}
	two := w.prompt(t, session.Record{ID: uuid.New()}, "two", inbox.Held)
	w.sender.post = refuse
	require.ErrorIs(t, w.Prompts.Homeless(t.Context(), []string{two.Key}), errDisk)
	_, err := w.entries.Load(two.Key)
	assert.NoError(t, err, "what is not told stays")
}

func TestHandleKnowsTheFailpoint(t *testing.T) {
	w := newWorld(t)
	var points []string
	w.Failpoint = func(name string) { points = append(points, name) }
	w.mustHear(t, "/help")
	assert.Equal(t, []string{"accepted"}, points)
	assert.NoError(t, w.Handle(context.Background(), "1", nil))
}
