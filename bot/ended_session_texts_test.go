package bot_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/prompt"
	"ccbot/bot/sessions"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// keptFor are the keys that were kept in a session's queue, in order.
func keptFor(w *chattest.World, r session.Record) (keys []string) {
	for _, line := range w.Lifecycle.Done() {
		if key, ok := strings.CutPrefix(line, "keep "); ok && strings.HasSuffix(key, " for "+r.ID.String()) {
			keys = append(keys, strings.TrimSuffix(key, " for "+r.ID.String()))
		}
	}
	return keys
}

// TestP4_ResumeSendsTextsInOrder shows the texts to an ended session under one card, and sends all
// of them, oldest first, whichever button resumes the session.
func TestP4_ResumeSendsTextsInOrder(t *testing.T) {
	for name, resume := range map[string]func(t *testing.T, w *chattest.World, id int){
		"under the card": func(t *testing.T, w *chattest.World, id int) {
			require.NoError(t, w.TapShown(t, chattest.Alice, w.Shows(t, id), i18n.ButtonResumeAndSend))
		},
		"by a command": func(t *testing.T, w *chattest.World, _ int) { w.MustHear(t, "/resume api") },
		"in a terminal": func(t *testing.T, w *chattest.World, _ int) {
			r := w.Records.List()[0]
			w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Restoring })
			_, err := sessions.CLI{Sessions: w.Resumer}.Resumed(t.Context(), r.ID)
			require.NoError(t, err)
		},
		"it is open already": func(t *testing.T, w *chattest.World, _ int) {
			w.Records.Change(w.Records.List()[0].ID, func(r *session.Record) { r.State = session.Running })
			w.MustHear(t, "/resume api")
		},
		"all": func(t *testing.T, w *chattest.World, _ int) {
			require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Now(1), i18n.ButtonResumeAll))
		},
		"all, and another tap has opened it": func(t *testing.T, w *chattest.World, _ int) {
			opened := w.Records.List()[0].ID
			w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
				if id != opened {
					return w.Record(t, id), nil
				}
				w.Records.Change(id, func(r *session.Record) { r.State = session.Running })
				return session.Record{}, &lifecycle.StateError{State: session.Running}
			}
			require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Now(1), i18n.ButtonResumeAll))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Lost(t, "api", session.ClosedReboot)
			w.Lost(t, "web", session.ClosedReboot)
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, r.ID))
			other := w.Session(t, "other", session.Archived)
			w.RecoveredMessage(t)
			keys := []string{w.MustHear(t, "one"), w.MustHear(t, "two")}
			id := w.Telegram.LastID()
			w.Says55(other)
			apart := w.Answer(t, 55, "for another one")
			keys = append(keys, w.MustHear(t, "three"))
			shown := w.Shows(t, id).Text.Text
			assert.Contains(t, shown, "3 messages wait here.\n1. one\n2. two\n3. three")
			w.Reopened(t)
			resume(t, w, id)
			w.Work(t)
			assert.Equal(t, keys, keptFor(w, r))
			assert.Equal(t, inbox.Asked, w.EntryState(apart))
			assert.Contains(t, []string{w.Named(i18n.ResumeAndSend, "api"), w.Named(i18n.SentAgain, "api")}, w.Shows(t, id).Text.Text)
		})
	}
}

// TestP4_ResumeAsksAboutLateTexts asks about a text that has waited for long, if another message
// than its card resumes its session.
func TestP4_ResumeAsksAboutLateTexts(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Archived)
		late := w.MustHear(t, "old")
		time.Sleep(prompt.MaxAge + time.Second)
		fresh := w.MustHear(t, "new")
		w.MustHear(t, "/resume api")
		w.Work(t)
		assert.Equal(t, []string{fresh}, keptFor(w, r))
		assert.Equal(t, inbox.Asked, w.EntryState(late))
		asks := slices.IndexFunc(w.Telegram.Sent, func(m outbox.Message) bool {
			return slices.Equal(chattest.Words(m), w.WordsOf(i18n.ButtonSend, i18n.ButtonDrop))
		})
		require.GreaterOrEqual(t, asks, 0, "%v", w.Telegram.Texts())
		assert.Contains(t, w.Telegram.Sent[asks].Text.Text, "old")
	})
}

// TestP4_ResumeAsksAboutRefusedText resumes a session whose queue does not take one of the texts of
// its card: that text gets a question of its own.
func TestP4_ResumeAsksAboutRefusedText(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Archived)
	first, second := w.MustHear(t, "one"), w.MustHear(t, "two")
	w.Lifecycle.OnQueue = func(_ uuid.UUID, key string) error {
		if key == second {
			return &lifecycle.StateError{State: session.Stopping}
		}
		return nil
	}
	w.MustHear(t, "/resume api")
	w.Work(t)
	assert.Equal(t, []string{first, second}, keptFor(w, r))
	assert.Equal(t, inbox.Asked, w.EntryState(second))
	asks := slices.IndexFunc(w.Telegram.Sent, func(m outbox.Message) bool {
		return slices.Equal(chattest.Words(m), w.WordsOf(i18n.ButtonSend, i18n.ButtonDrop))
	})
	require.GreaterOrEqual(t, asks, 0, "%v", w.Telegram.Texts())
	assert.Contains(t, w.Telegram.Sent[asks].Text.Text, "two")
}

// TestP4_ResumeSparesTextsOfOtherChats resumes a session in a group while a text waits in a private
// chat.
func TestP4_ResumeSparesTextsOfOtherChats(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Archived)
	own := w.MustHear(t, "private")
	id := w.Telegram.LastID()
	require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, r.ID))
	say := func(text string) string {
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: chattest.GroupChat(chattest.Ours), Text: text})
		require.NoError(t, w.Handle(t.Context(), key, u))
		return key
	}
	shared := say("for all")
	say("/resume api")
	w.Work(t)
	assert.Equal(t, []string{shared}, keptFor(w, r))
	assert.Equal(t, inbox.Asked, w.EntryState(own))
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonResumeAndSend))
	assert.Equal(t, []string{shared, own}, keptFor(w, r))
}

// TestLateTextsSoundOnce resumes a session for which three texts have waited for long.
func TestLateTextsSoundOnce(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Archived)
		for _, text := range []string{"one", "two", "three"} {
			w.MustHear(t, text)
		}
		time.Sleep(prompt.MaxAge + time.Second)
		before := trafficOf(w)
		w.MustHear(t, "/resume api")
		w.Work(t)
		assert.Empty(t, keptFor(w, r))
		assert.Equal(t, 1, trafficOf(w).minus(before).Sounds)
	})
}

// TestResumeAllOmitsOldSessions offers the sessions that went down with the machine now, and no
// older ones.
func TestResumeAllOmitsOldSessions(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, name := range []string{"ancient", "api", "web"} {
		w.Lost(t, name, session.ClosedReboot)
	}
	ancient := named(t, w, "ancient")
	w.Records.Change(ancient.ID, func(r *session.Record) { r.EndedAt = w.Now().AddDate(0, -3, 0) })
	w.MustHear(t, "go on")
	words := chattest.Words(w.LastSent(t))
	assert.Contains(t, words, w.Named(i18n.ButtonResumeAllSend, "api"))
	assert.NotContains(t, words, w.Named(i18n.ButtonResumeAllSend, "ancient"))
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.Key(w.Named(i18n.ButtonResumeAllSend, "api"))))
	assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), ancient.ID.String())
}

// TestWaitingTextsDelayNoAnswers sends the answer in one topic before the count of the texts that
// wait in another one.
func TestWaitingTextsDelayNoAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, api, o := flooded(t)
		_, says := inTopic(t, w, api, "api")
		empty := api.person.OpenTopic(chattest.Ours, "empty")
		hear := func(text string) {
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.GroupChat(chattest.Ours),
				MessageThreadID: empty, IsTopicMessage: true, Text: text})
			require.NoError(t, w.HandleText(t, key, u))
		}
		hear("one")
		time.Sleep(time.Minute)
		spends(t, o, session.Conversation{ChatID: chattest.Ours})
		from := time.Now()
		hear("two")
		hear("three")
		says(chattest.Says("The answer."), chattest.ToolUse)
		time.Sleep(time.Minute)
		synctest.Wait()
		all := api.since(from)
		has := func(text string) int {
			return slices.IndexFunc(all, func(m shownMessage) bool { return strings.Contains(m.text, text) })
		}
		require.Positive(t, has("3 messages wait"), "%v", all)
		assert.Less(t, has("The answer."), has("3 messages wait"))
	})
}
