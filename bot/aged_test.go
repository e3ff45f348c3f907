package bot

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/prompt"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// hearSent handles a text of Alice's that was sent at a time, and returns its key.
func (w *world) hearSent(t *testing.T, text string, at time.Time) string {
	t.Helper()
	key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: text, Date: int(at.Unix())})
	require.NoError(t, w.Handle(t.Context(), key, u))
	return key
}

// entryState is how far an entry is; empty when it is finished.
func (w *world) entryState(key string) inbox.State {
	e, err := w.entries.Load(key)
	if err != nil {
		return ""
	}
	return e.State
}

func TestP4_WhatWasSentLongAgoIsAskedAbout(t *testing.T) {
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
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			key := w.hearSent(t, "fix\nit", tt.sent)
			assert.Equal(t, tt.want, w.entryState(key))
			assert.Equal(t, reactionStored, w.sender.reaction(1001), "it is on disk")
			if tt.want == inbox.Held {
				assert.Empty(t, w.sender.answersSent())
				return
			}
			assert.Empty(t, w.sessions.done(), "it is in no queue")
			m := w.lastSent(t)
			head := w.word(i18n.AgedAsk, i18n.Args{"Name": "api", "Time": w.Moment(tt.sent)})
			assert.Equal(t, lines(head, "fix", "it"), m.Text.Text)
			assert.Equal(t, []any{1001, []string{w.word(i18n.ButtonSend), w.word(i18n.ButtonDrop)}}, []any{m.ReplyTo, words(m)})
			e, err := w.entries.Load(key)
			require.NoError(t, err)
			assert.Equal(t, []any{r.ID, tt.sent.Unix()}, []any{e.Session, e.Sent.Unix()})
		})
	}
}

func TestMomentsOfAnotherDayHaveTheirDate(t *testing.T) {
	w := newWorld(t)
	today := w.Now().Local()
	assert.Equal(t, today.Format("15:04"), w.Moment(today))
	assert.Equal(t, today.AddDate(0, 0, -2).Format("2006-01-02 15:04"), w.Moment(today.AddDate(0, 0, -2)))
}

func TestP4_WhatWaitedWhileCcbotWasAwayIsAskedAbout(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	over := w.session(t, "over", session.Archived)
	held, waits := w.prompt(t, r, "held", inbox.Held), w.prompt(t, over, "waits", inbox.Held)
	typing, unproven := w.prompt(t, r, "typing", inbox.Typing), w.prompt(t, r, "unproven", inbox.Unproven)
	asked, homeless := w.prompt(t, r, "asked", inbox.Asked), w.prompt(t, session.Record{ID: uuid.New()}, "homeless", inbox.Held)

	require.NoError(t, w.Review(t.Context(), prompt.MaxAge))
	assert.Empty(t, w.sender.done(), "so long is not too long")
	require.NoError(t, w.Review(t.Context(), 0))
	assert.Empty(t, w.sender.done(), "nor is what is not known")

	for range 2 { // and once more is nothing
		require.NoError(t, w.Review(t.Context(), prompt.MaxAge+time.Second))
		assert.Len(t, w.sender.answersSent(), 2)
		for _, e := range []inbox.Entry{held, waits, asked} {
			assert.Equal(t, inbox.Asked, w.entryState(e.Key), e.Text)
		}
		for _, e := range []inbox.Entry{typing, unproven, homeless} {
			assert.Equal(t, e.State, w.entryState(e.Key), e.Text)
		}
	}
}

// A question that cannot be kept ends the start: nothing old is typed.
func TestP4_AQuestionThatCannotBeKeptIsAskedAtTheNextStart(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	e := w.prompt(t, r, "held", inbox.Held)
	w.sender.post = refuse
	require.ErrorIs(t, w.Review(t.Context(), time.Hour), errDisk)
	assert.Equal(t, inbox.Held, w.entryState(e.Key))
	w.sender.post = nil
	require.NoError(t, w.Review(t.Context(), time.Second), "the next start is soon after, and still knows")
	assert.Equal(t, inbox.Asked, w.entryState(e.Key))
	assert.Len(t, w.sender.answersSent(), 1)
}

// What was accepted and not handled before ccbot was away is asked about when its turn comes, also
// after another restart.
func TestP4_WhatWasNotHandledYetIsAskedAboutWhenItIs(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	m := &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: "fix it", Date: int(time.Now().Unix())}
	key, u := w.accept(t, m)
	require.NoError(t, w.Review(t.Context(), time.Hour))
	require.NoError(t, w.Review(t.Context(), time.Second))
	assert.Empty(t, w.sender.done())
	w.again()
	w.Connect(w.sessions, w.windows)
	require.NoError(t, w.Handle(t.Context(), key, u))
	assert.Equal(t, inbox.Asked, w.entryState(key))
	assert.Len(t, w.sender.answersSent(), 1)
	next := w.hearSent(t, "and this", time.Now())
	assert.Equal(t, inbox.Held, w.entryState(next), "what comes later does not wait")
}

func TestP4_AnOldPromptIsTypedOrDroppedByAPerson(t *testing.T) {
	ask := func(t *testing.T) (w *world, r session.Record, key string) {
		w = newWorld(t)
		r = w.currentSession(t, "api", session.Running)
		key = w.hearSent(t, "fix it", time.Now().Add(-time.Hour))
		w.again()
		w.Connect(w.sessions, w.windows)
		return w, r, key
	}
	t.Run("send", func(t *testing.T) {
		w, r, key := ask(t)
		question := w.lastSent(t)
		require.NoError(t, w.tapShown(t, bob, question, i18n.ButtonSend), "any allowed person may")
		assert.Equal(t, []string{"queue " + key + " for " + r.ID.String()}, w.sessions.done())
		assert.Equal(t, inbox.Held, w.entryState(key))
		assert.Equal(t, lines(question.Text.Text, "", w.named(i18n.AgedSent, "api")), w.sender.lastEdit(t).Text.Text)
		require.NoError(t, w.tapShown(t, bob, question, i18n.ButtonDrop))
		require.NoError(t, w.tapShown(t, bob, question, i18n.ButtonSend))
		assert.Len(t, w.sessions.done(), 1, "once is enough")
		assert.Equal(t, inbox.Held, w.entryState(key))
		w.sender.sent = nil
		require.NoError(t, w.Review(t.Context(), time.Second))
		assert.Empty(t, w.sender.answersSent(), "the person has said yes")
		require.NoError(t, w.Review(t.Context(), time.Hour))
		assert.Len(t, w.sender.answersSent(), 1, "but that was an hour ago")
	})
	t.Run("drop", func(t *testing.T) {
		w, _, key := ask(t)
		question := w.lastSent(t)
		require.NoError(t, w.tapShown(t, bob, question, i18n.ButtonDrop))
		assert.Empty(t, w.entryState(key))
		assert.Equal(t, reactionNone, w.sender.reaction(1001))
		assert.Equal(t, lines(question.Text.Text, "", w.word(i18n.Dropped)), w.sender.lastEdit(t).Text.Text)
		require.NoError(t, w.tapShown(t, bob, question, i18n.ButtonSend))
		assert.Empty(t, w.sessions.done())
	})
	t.Run("in another chat", func(t *testing.T) {
		w, _, key := ask(t)
		question := w.lastSent(t)
		m := &models.Message{ID: 5, Chat: groupChat(ours), Text: "x"}
		require.NoError(t, w.Handle(t.Context(), "1", tapOn(bob, m, dataBehind(t, question, w.word(i18n.ButtonSend)))))
		assert.Empty(t, w.sessions.done())
		assert.Equal(t, inbox.Asked, w.entryState(key))
	})
	t.Run("while the session is over", func(t *testing.T) {
		w, _, key := ask(t)
		question := w.lastSent(t)
		w.sessions.queue = func(uuid.UUID, string) error { return lifecycle.ErrNoAgent }
		require.NoError(t, w.tapShown(t, alice, question, i18n.ButtonSend))
		assert.Contains(t, w.sender.texts(), w.named(i18n.AlreadyEnded, "api"))
		assert.Equal(t, inbox.Asked, w.entryState(key))
		assert.Empty(t, w.sender.edited, "the person may bring it back and tap again")
		w.sessions.queue = func(uuid.UUID, string) error { return errDisk }
		w.toldOfError(t, w.tapShown(t, alice, question, i18n.ButtonSend))
		assert.Equal(t, inbox.Asked, w.entryState(key))
	})
	t.Run("of a session that is forgotten", func(t *testing.T) {
		w, r, key := ask(t)
		question := w.lastSent(t)
		w.records.forget(r.ID)
		require.NoError(t, w.tapShown(t, alice, question, i18n.ButtonSend))
		assert.Empty(t, w.entryState(key))
		assert.Equal(t, warning+lines(w.word(i18n.NotDelivered), "fix it"), w.sender.last(t).Text.Text)
	})
}

// Esc would stop whatever runs by now.
func TestP4_AnOldStopIsNotDone(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	w.hearSent(t, "/stop", time.Now().Add(-time.Hour))
	assert.Empty(t, w.sessions.done())
	assert.Equal(t, 1001, w.sender.last(t).ReplyTo)
	assert.Contains(t, w.sender.last(t).Text.Text, "/stop")
	w.hearSent(t, "/list", time.Now().Add(-time.Hour))
	assert.NotContains(t, w.sender.last(t).Text.Text, warning, "a look at things is never too late")
	w.hearSent(t, "/stop", time.Now())
	assert.Len(t, w.sessions.done(), 1)
	w.sender.post = refuse
	key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: "/stop", Date: 1})
	require.ErrorIs(t, w.Handle(t.Context(), key, u), errDisk)
	assert.Len(t, w.sessions.done(), 1)
}

func TestP4_AnOldPromptIsAskedAboutOnce(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	w.entries.save = func(inbox.Entry) error { return errors.New("killed") }
	key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: "fix it", Date: 1})
	require.Error(t, w.Handle(t.Context(), key, u))
	w.entries.save = nil
	require.NoError(t, w.Handle(t.Context(), key, u), "the next start hands it on again")
	assert.Len(t, w.sender.answersSent(), 1)
	require.NoError(t, w.tapShown(t, alice, w.lastSent(t), i18n.ButtonSend))
	assert.Equal(t, inbox.Held, w.entryState(key))
}

// An album that waited is asked about as the one prompt that it is.
func TestP4_AnAlbumThatWaitedIsAskedAboutOnce(t *testing.T) {
	d := newMediaWorld(t)
	key, handle := d.album(t, "look")
	require.NoError(t, d.Review(t.Context(), time.Hour))
	assert.Empty(t, d.sender.answersSent(), "it is no prompt yet")
	require.NoError(t, handle(t.Context()))
	assert.Equal(t, inbox.Asked, d.entryState(key))
	assert.Len(t, d.sender.answersSent(), 1)
	assert.Empty(t, d.sessions.done())
}

// After a crash two questions about one prompt may stand in the chat.
func TestP4_ADropAfterASendDropsNothing(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	key := w.hearSent(t, "old text", time.Now().Add(-time.Hour))
	question := w.lastSent(t)
	w.entries.finish = func(string) error { // the drop has read the entry before that
		w.entries.finish = nil
		return w.tapShown(t, alice, question, i18n.ButtonSend)
	}
	require.NoError(t, w.tapShown(t, alice, question, i18n.ButtonDrop))
	assert.Nil(t, w.entries.finish)
	assert.Equal(t, inbox.Held, w.entryState(key))
	assert.Contains(t, w.sender.done(), "post "+w.word(i18n.StaleButton))
}

// TestP7_AStopThatWaitedInTheInboxStopsNothing: something before it could not be kept for so long.
func TestP7_AStopThatWaitedInTheInboxStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.currentSession(t, "api", session.Running)
		key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: "/stop"})
		time.Sleep(prompt.MaxAge + time.Second)
		require.NoError(t, w.Handle(t.Context(), key, u))
		assert.Empty(t, w.sessions.done())
		assert.Len(t, w.sender.texts(), 1)
	})
}
