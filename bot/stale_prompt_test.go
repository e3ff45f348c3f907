package bot_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/prompt"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
)

func TestP4_OldMessageNeedsConfirmation(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name string
		sent time.Time
		want inbox.State
	}{
		{"just now", now, inbox.Held},
		{"a quarter of an hour ago", now.Add(-prompt.MaxAge + 5*time.Second), inbox.Held},
		{"longer ago", now.Add(-prompt.MaxAge - 5*time.Second), inbox.Asked},
		{"days ago", now.Add(-72 * time.Hour), inbox.Asked},
		{"in the future", now.Add(3 * time.Hour), inbox.Held},
		{"at no time", time.Unix(0, 0), inbox.Held},
		{"later than JSON can hold", time.Unix(1<<62, 0), inbox.Held},
		{"earlier than JSON can hold", time.Unix(-1<<62, 0), inbox.Held},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			key := w.HearSent(t, "fix\nit", tt.sent)
			assert.Equal(t, tt.want, w.EntryState(key))
			assert.Equal(t, chattest.ReactionStored, w.Telegram.Reaction(1001), "it is on disk")
			if tt.want == inbox.Held {
				assert.Empty(t, w.Telegram.AnswersSent())
				return
			}
			assert.Empty(t, w.Lifecycle.Done(), "it is in no queue")
			m := w.LastSent(t)
			head := w.Word(i18n.AgedAsk, i18n.Args{"Name": "api", "Time": w.In(chattest.AtAlice).Moment(tt.sent)})
			assert.Equal(t, chattest.Lines(head, "fix", "it"), m.Text.Text)
			assert.Equal(t, []any{1001, []string{w.Word(i18n.ButtonSend), w.Word(i18n.ButtonDrop)}}, []any{m.ReplyTo, chattest.Words(m)})
			e, err := w.Inbox.Load(key)
			require.NoError(t, err)
			assert.Equal(t, []any{r.ID, tt.sent.Unix()}, []any{e.Session, e.Sent.Unix()})
		})
	}
}

// TestP4_StartMarksWaitingMessages: ccbot stopped while the network was away, and the reaction was
// only in memory.
func TestP4_StartMarksWaitingMessages(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	held := w.Prompt(t, r, "held", inbox.Held)
	require.NotZero(t, held.MessageID)
	require.NoError(t, w.Review(t.Context(), 0))
	assert.Equal(t, chattest.ReactionStored, w.Telegram.Reaction(held.MessageID))
	assert.Empty(t, w.Telegram.AnswersSent())
}

func TestP4_PromptWaitingDuringAbsenceNeedsConfirmation(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	over := w.Session(t, "over", session.Archived)
	held, waits := w.Prompt(t, r, "held", inbox.Held), w.Prompt(t, over, "waits", inbox.Held)
	typing, unproven := w.Prompt(t, r, "typing", inbox.Typing), w.Prompt(t, r, "unproven", inbox.Unproven)
	asked, homeless := w.Prompt(t, r, "asked", inbox.Asked), w.Prompt(t, session.Record{ID: uuid.New()}, "homeless", inbox.Held)

	require.NoError(t, w.Review(t.Context(), prompt.MaxAge))
	require.NoError(t, w.Review(t.Context(), 0))
	assert.Len(t, w.Telegram.AnswersSent(), 2, "what awaits an answer: so long is not too long, nor is what is not known")

	for range 2 { // and once more is nothing
		require.NoError(t, w.Review(t.Context(), prompt.MaxAge+time.Second))
		assert.Len(t, w.Telegram.AnswersSent(), 4)
		for _, e := range []inbox.Entry{held, waits, asked} {
			assert.Equal(t, inbox.Asked, w.EntryState(e.Key), e.Text)
		}
		for _, e := range []inbox.Entry{typing, unproven, homeless} {
			assert.Equal(t, e.State, w.EntryState(e.Key), e.Text)
		}
	}
}

// A question that cannot be kept ends the start: nothing old is typed.
func TestP4_UnsavedQuestionComesAtNextStart(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	e := w.Prompt(t, r, "held", inbox.Held)
	w.Telegram.OnPost = chattest.Refuse
	require.ErrorIs(t, w.Review(t.Context(), time.Hour), chattest.ErrDisk)
	assert.Equal(t, inbox.Held, w.EntryState(e.Key))
	w.Telegram.OnPost = nil
	require.NoError(t, w.Review(t.Context(), time.Second), "the next start is soon after, and still knows")
	assert.Equal(t, inbox.Asked, w.EntryState(e.Key))
	assert.Len(t, w.Telegram.AnswersSent(), 1)
}

// A message accepted but not handled before ccbot was away is confirmed in its turn, also after
// another restart.
func TestP4_UnhandledOldMessageNeedsConfirmation(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	m := &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "fix it", Date: int(time.Now().Unix())}
	key, u := w.Accept(t, m)
	require.NoError(t, w.Review(t.Context(), time.Hour))
	require.NoError(t, w.Review(t.Context(), time.Second))
	assert.Empty(t, w.Telegram.Done())
	w.Again()
	w.Connect(w.Lifecycle, w.Windows)
	require.NoError(t, w.Handle(t.Context(), key, u))
	assert.Equal(t, inbox.Asked, w.EntryState(key))
	assert.Len(t, w.Telegram.AnswersSent(), 1)
	next := w.HearSent(t, "and this", time.Now())
	assert.Equal(t, inbox.Held, w.EntryState(next), "what comes later does not wait")
}

func TestP4_PersonTypesOrDropsOldPrompt(t *testing.T) {
	ask := func(t *testing.T) (w *chattest.World, r session.Record, key string) {
		w = chattest.NewWorld(t)
		r = w.NewCurrentSession(t, "api", session.Running)
		key = w.HearSent(t, "fix it", time.Now().Add(-time.Hour))
		w.Again()
		w.Connect(w.Lifecycle, w.Windows)
		return w, r, key
	}
	t.Run("send", func(t *testing.T) {
		w, r, key := ask(t)
		question := w.LastSent(t)
		require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonSend), "any allowed person may")
		assert.Equal(t, []string{"queue " + key + " for " + r.ID.String()}, w.Lifecycle.Done())
		assert.Equal(t, inbox.Held, w.EntryState(key))
		assert.Equal(t, w.Named(i18n.SentAgain, "api"), w.Telegram.LastEdit(t).Text.Text)
		require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonDrop))
		require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonSend))
		assert.Len(t, w.Lifecycle.Done(), 1, "once is enough")
		assert.Equal(t, inbox.Held, w.EntryState(key))
		w.Telegram.Sent = nil
		require.NoError(t, w.Review(t.Context(), time.Second))
		assert.Empty(t, w.Telegram.AnswersSent(), "the person has said yes")
		require.NoError(t, w.Review(t.Context(), time.Hour))
		assert.Len(t, w.Telegram.AnswersSent(), 1, "but that was an hour ago")
	})
	t.Run("drop", func(t *testing.T) {
		w, _, key := ask(t)
		question := w.LastSent(t)
		require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonDrop))
		assert.Empty(t, w.EntryState(key))
		assert.Equal(t, chattest.ReactionNone, w.Telegram.Reaction(1001))
		assert.Equal(t, w.Word(i18n.Dropped), w.Telegram.LastEdit(t).Text.Text)
		require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonSend))
		assert.Empty(t, w.Lifecycle.Done())
	})
	t.Run("in another chat", func(t *testing.T) {
		w, _, key := ask(t)
		question := w.LastSent(t)
		m := &models.Message{ID: 5, Chat: chattest.GroupChat(chattest.Ours), Text: "x"}
		require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Bob, m, chattest.DataBehind(t, question, w.Word(i18n.ButtonSend)))))
		assert.Empty(t, w.Lifecycle.Done())
		assert.Equal(t, inbox.Asked, w.EntryState(key))
	})
	t.Run("while the session is over", func(t *testing.T) {
		w, _, key := ask(t)
		question := w.LastSent(t)
		w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return view.ErrNoAgent }
		require.NoError(t, w.TapShown(t, chattest.Alice, question, i18n.ButtonSend))
		assert.Contains(t, w.Telegram.Texts(), w.Named(i18n.AlreadyEnded, "api"))
		assert.Equal(t, inbox.Asked, w.EntryState(key))
		assert.Empty(t, w.Telegram.Edited, "the person may bring it back and tap again")
		w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return chattest.ErrDisk }
		w.AssertErrorShown(t, w.TapShown(t, chattest.Alice, question, i18n.ButtonSend))
		assert.Equal(t, inbox.Asked, w.EntryState(key))
	})
	t.Run("of a session that is forgotten", func(t *testing.T) {
		w, r, key := ask(t)
		question := w.LastSent(t)
		w.Records.Forget(r.ID)
		require.NoError(t, w.TapShown(t, chattest.Alice, question, i18n.ButtonSend))
		assert.Empty(t, w.EntryState(key))
		assert.Equal(t, chattest.Warning+chattest.Lines(w.Word(i18n.NotDelivered), "fix it"), w.Telegram.Last(t).Text.Text)
	})
}

// Esc would stop a later turn.
func TestP4_OldStopIsNotDone(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	w.HearSent(t, "/stop", time.Now().Add(-time.Hour))
	assert.Empty(t, w.Lifecycle.Done())
	assert.Equal(t, 1001, w.Telegram.Last(t).ReplyTo)
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "/stop")
	w.HearSent(t, "/list", time.Now().Add(-time.Hour))
	assert.NotContains(t, w.Telegram.Last(t).Text.Text, chattest.Warning, "a look at things is never too late")
	w.HearSent(t, "/stop", time.Now())
	assert.Len(t, w.Lifecycle.Done(), 1)
	w.Telegram.OnPost = chattest.Refuse
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "/stop", Date: 1})
	require.ErrorIs(t, w.Handle(t.Context(), key, u), chattest.ErrDisk)
	assert.Len(t, w.Lifecycle.Done(), 1)
}

func TestP4_OldPromptIsConfirmedOnce(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	w.Inbox.OnSave = func(inbox.Entry) error { return errors.New("killed") }
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "fix it", Date: 1})
	require.Error(t, w.Handle(t.Context(), key, u))
	w.Inbox.OnSave = nil
	require.NoError(t, w.Handle(t.Context(), key, u), "the next start hands it on again")
	assert.Len(t, w.Telegram.AnswersSent(), 1)
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonSend))
	assert.Equal(t, inbox.Held, w.EntryState(key))
}

// An album that waited is confirmed as one prompt.
func TestP4_OldAlbumIsConfirmedOnce(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	key, handle := d.Album(t, "look")
	require.NoError(t, d.Review(t.Context(), time.Hour))
	assert.Empty(t, d.Telegram.AnswersSent(), "it is no prompt yet")
	require.NoError(t, handle(t.Context()))
	assert.Equal(t, inbox.Asked, d.EntryState(key))
	assert.Len(t, d.Telegram.AnswersSent(), 1)
	assert.Empty(t, d.Lifecycle.Done())
}

// After a crash the chat may have two questions about one prompt.
func TestP4_DropAfterSendDropsNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	key := w.HearSent(t, "old text", time.Now().Add(-time.Hour))
	question := w.LastSent(t)
	w.Inbox.OnFinish = func(string) error { // the drop has read the entry before that
		w.Inbox.OnFinish = nil
		return w.TapShown(t, chattest.Alice, question, i18n.ButtonSend)
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, question, i18n.ButtonDrop))
	assert.Nil(t, w.Inbox.OnFinish)
	assert.Equal(t, inbox.Held, w.EntryState(key))
	assert.Contains(t, w.Telegram.Done(), "post "+w.Word(i18n.StaleButton))
}

// TestP7_DelayedStopStopsNothing: something before it could not be kept for so long.
func TestP7_DelayedStopStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.NewCurrentSession(t, "api", session.Running)
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "/stop"})
		time.Sleep(prompt.MaxAge + time.Second)
		require.NoError(t, w.Handle(t.Context(), key, u))
		assert.Empty(t, w.Lifecycle.Done())
		assert.Len(t, w.Telegram.Texts(), 1)
	})
}
