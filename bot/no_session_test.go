package bot_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/refusal"
)

// queuedFor are the keys that were queued for a session, in order.
func queuedFor(w *chattest.World, r session.Record) (keys []string) {
	for _, line := range w.Lifecycle.Done() {
		if key, ok := strings.CutPrefix(line, "queue "); ok && strings.HasSuffix(key, " for "+r.ID.String()) {
			keys = append(keys, strings.TrimSuffix(key, " for "+r.ID.String()))
		}
	}
	return keys
}

// TestP4_TextWithoutSessionStartsOne keeps the texts that no session can take under one card, and
// sends them to the session that a person starts there, in their order.
func TestP4_TextWithoutSessionStartsOne(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "old", session.Failed)
	first := w.MustHear(t, "one")
	card := w.LastSent(t)
	id := w.Telegram.LastID()
	assert.Equal(t, []string{"Start in ~/old", "Resume old and send", "Discard"}, chattest.Words(card))
	second, third := w.MustHear(t, "two"), w.MustHear(t, "three")
	assert.Len(t, w.Telegram.Sent, 1, "one card for all")
	assert.Contains(t, w.Shows(t, id).Text.Text, "3 messages wait here.")
	for _, key := range []string{first, second, third} {
		assert.Equal(t, inbox.Asked, w.EntryState(key))
	}
	w.Restart(t)
	require.NoError(t, w.Review(t.Context(), time.Second))
	w.Work(t)
	assert.Len(t, w.Telegram.Sent, 1, "a start asks nothing again")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Shows(t, id), "Start in ~/old"))
	r, _ := w.CurrentSession(chattest.AtAlice, 0)
	assert.Equal(t, "/home/alice/old", r.Dir)
	assert.Equal(t, []string{first, second, third}, queuedFor(w, w.Record(t, r.ID)))
	assert.Empty(t, w.Shows(t, id).Buttons)
}

// TestTextStartsInChosenFolder offers the chat's folder for new sessions after those of the last
// sessions.
func TestTextStartsInChosenFolder(t *testing.T) {
	w := chattest.NewWorld(t)
	require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Dir = "/home/alice/demo" }))
	w.MustHear(t, "one")
	assert.Equal(t, []string{"Start in ~/demo", "Discard"}, chattest.Words(w.LastSent(t)))
	w.Session(t, "old", session.Failed)
	w.MustHear(t, "two")
	assert.Contains(t, chattest.Words(w.Shows(t, w.Telegram.LastID())), "Start in ~/demo")
}

// TestP4_DiscardedTextsAreGone discards all texts that share a card.
func TestP4_DiscardedTextsAreGone(t *testing.T) {
	w := chattest.NewWorld(t)
	keys := []string{w.MustHear(t, "one"), w.MustHear(t, "two")}
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Shows(t, w.Telegram.LastID()), i18n.ButtonDrop))
	for _, key := range keys {
		assert.Empty(t, w.EntryState(key))
	}
	assert.Empty(t, w.Lifecycle.Done())
}

// TestP4_CrashBetweenSharedTextsLosesNone ends the program after the first of two texts was queued:
// the second one is confirmed.
func TestP4_CrashBetweenSharedTextsLosesNone(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "old", session.Failed)
	first, second := w.MustHear(t, "one"), w.MustHear(t, "two")
	w.Chat.Failpoint = func(point string) {
		if point == "text-next" {
			panic(point)
		}
	}
	_ = w.TapShown(t, chattest.Alice, w.Shows(t, w.Telegram.LastID()), "Start in ~/old") // it dies
	r, _ := w.CurrentSession(chattest.AtAlice, 0)
	assert.Equal(t, []string{first}, queuedFor(w, w.Record(t, r.ID)))
	assert.Equal(t, inbox.Asked, w.EntryState(second))
	w.Restart(t)
	require.NoError(t, w.Review(t.Context(), time.Second))
	w.Work(t)
	card := w.LastSent(t)
	assert.Equal(t, w.SendTo(r.Name), chattest.Words(card))
	require.NoError(t, w.TapShown(t, chattest.Alice, card, i18n.Key(w.Named(i18n.ButtonSendTo, r.Name))))
	assert.Equal(t, []string{first, second}, queuedFor(w, w.Record(t, r.ID)))
}

// failFor refuses to queue the prompt of a key.
func failFor(refused string) func(uuid.UUID, string) error {
	return func(_ uuid.UUID, key string) error {
		if key == refused {
			return errors.New("no space left on device")
		}
		return nil
	}
}

// TestP4_FailedSharedTextIsAskedAgain fails to queue the second of three texts: it is reported, and
// has a card again.
func TestP4_FailedSharedTextIsAskedAgain(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "old", session.Failed)
	first, second, third := w.MustHear(t, "one"), w.MustHear(t, "two"), w.MustHear(t, "three")
	id := w.Telegram.LastID()
	w.Lifecycle.OnQueue = failFor(second)
	_ = w.TapShown(t, chattest.Alice, w.Shows(t, id), "Start in ~/old")
	w.Work(t)
	r, _ := w.CurrentSession(chattest.AtAlice, 0)
	assert.Equal(t, []inbox.State{inbox.Held, inbox.Asked, inbox.Held},
		[]inbox.State{w.EntryState(first), w.EntryState(second), w.EntryState(third)})
	assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), chat.Warning)
	w.Lifecycle.OnQueue = nil
	w.Lifecycle.Forget()
	card := w.LastSent(t)
	require.Contains(t, chattest.Words(card), w.Named(i18n.ButtonSendTo, r.Name))
	require.NoError(t, w.TapShown(t, chattest.Alice, card, i18n.Key(w.Named(i18n.ButtonSendTo, r.Name))))
	assert.Equal(t, []string{second}, queuedFor(w, w.Record(t, r.ID)))
}

// TestP4_TextDuringTapIsAskedAbout sends a text after the tap on another text's card, before that
// card is closed.
func TestP4_TextDuringTapIsAskedAbout(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "old", session.Failed)
	first := w.MustHear(t, "one")
	id, late := w.Telegram.LastID(), ""
	w.Lifecycle.OnStart = func(q port.Start) (session.Record, error) {
		late = w.MustHear(t, "two")
		r := session.Record{ID: uuid.New(), Name: q.Name, Dir: q.Dir, State: session.Starting, Conversation: q.Conversation,
			Owner: q.Owner, Origin: q.Origin}
		w.Records.Put(r)
		return r, nil
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Shows(t, id), "Start in ~/old"))
	w.Work(t)
	r, _ := w.CurrentSession(chattest.AtAlice, 0)
	assert.Equal(t, []string{first}, queuedFor(w, w.Record(t, r.ID)))
	assert.Equal(t, inbox.Asked, w.EntryState(late))
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.Key(w.Named(i18n.ButtonSendTo, r.Name))))
	assert.Equal(t, []string{first, late}, queuedFor(w, w.Record(t, r.ID)))
}

// TestP4_TapLeavesTextsNotShown discards a text while another one waits that its card does not show
// yet.
func TestP4_TapLeavesTextsNotShown(t *testing.T) {
	w := chattest.NewWorld(t)
	shown := w.MustHear(t, "one")
	card := w.LastSent(t)
	hidden, _ := w.AcceptText(t, "two")
	require.NoError(t, w.Inbox.Change(hidden, func(e *inbox.Entry) error {
		e.State, e.Conversation, e.Text = inbox.Asked, chattest.AtAlice, "two"
		return nil
	}))
	require.NoError(t, w.TapShown(t, chattest.Alice, card, i18n.ButtonDrop))
	w.Work(t)
	assert.Empty(t, w.EntryState(shown))
	require.Equal(t, inbox.Asked, w.EntryState(hidden))
	require.Len(t, w.Telegram.Sent, 2, "it has a card now")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonDrop))
	assert.Empty(t, w.EntryState(hidden))
}

// TestP4_EndedCardsTextIsConfirmed ends the first text while the second one is put under its card.
func TestP4_EndedCardsTextIsConfirmed(t *testing.T) {
	w := chattest.NewWorld(t)
	first := w.MustHear(t, "one")
	second, u := w.AcceptText(t, "two")
	w.Inbox.OnSave = func(e inbox.Entry) error {
		if e.Key == second && e.State == inbox.Asked {
			return os.Remove(filepath.Join(w.Dir, "inbox", first+".json"))
		}
		return nil
	}
	require.NoError(t, w.HandleText(t, second, u))
	w.Work(t)
	assert.Equal(t, inbox.Asked, w.EntryState(second))
	require.Len(t, w.Telegram.Sent, 2, "it has a card of its own")
}

// sayInTopic sends a text of Alice's in a topic without a session, which answers a message of the
// bot unless that is 0.
func sayInTopic(t *testing.T, w *chattest.World, text string, reply int) (key string) {
	t.Helper()
	m := &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.GroupChat(chattest.Ours),
		MessageThreadID: 9, IsTopicMessage: true, Text: text}
	if reply != 0 {
		m.ReplyToMessage = &models.Message{ID: reply, From: &models.User{IsBot: true, Username: w.Username}}
	}
	key, u := w.Accept(t, m)
	require.NoError(t, w.HandleText(t, key, u))
	return key
}

// TestTopicsTextsShareOneCard asks once in a topic without a session; the person's choice stays.
func TestTopicsTextsShareOneCard(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	say := func(text string) string { return sayInTopic(t, w, text, 0) }
	keys := []string{say("one"), say("two"), say("three")}
	require.Len(t, w.Telegram.Sent, 1)
	card := w.LastSent(t)
	assert.Equal(t, 9, card.To.ThreadID)
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Shows(t, w.Telegram.LastID()), i18n.Key(w.Named(i18n.ButtonSendTo, "api"))))
	keys = append(keys, say("four"))
	w.Restart(t)
	keys = append(keys, say("five"))
	assert.Equal(t, keys, queuedFor(w, r), "the later ones go there without a question")
	assert.Len(t, w.Telegram.Sent, 1)
}

// TestTopicKeepsItsCard sends texts to a topic without a session while the last open session ends,
// while another one starts, and as replies to the card.
func TestTopicKeepsItsCard(t *testing.T) {
	for name, opened := range map[string]bool{"a session is open first": true, "none is open first": false} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.Archived)
			state := func(s session.State) { w.Records.Change(r.ID, func(r *session.Record) { r.State = s }) }
			say := func(text string, reply int) string { return sayInTopic(t, w, text, reply) }
			states := []session.State{session.Archived, session.Running}
			if opened {
				states = []session.State{session.Running, session.Archived}
			}
			state(states[0])
			keys := []string{say("one", 0)}
			id := w.Telegram.LastID()
			state(states[1])
			keys = append(keys, say("two", 0), say("three", id))
			require.Len(t, w.Telegram.Sent, 1, "%q", w.Telegram.Texts())
			assert.Contains(t, w.Shows(t, id).Text.Text, "3 messages wait here.")
			offers := w.Named(i18n.ButtonResumeSendTo, "api")
			if !opened {
				offers = w.Named(i18n.ButtonSendTo, "api")
			}
			require.Contains(t, chattest.Words(w.Shows(t, id)), offers)
			require.NoError(t, w.TapShown(t, chattest.Alice, w.Shows(t, id), i18n.Key(offers)))
			w.Work(t)
			if opened {
				assert.Equal(t, keys, keptFor(w, r))
			} else {
				assert.Equal(t, keys, queuedFor(w, r))
			}
		})
	}
}

// TestP4_StartFromTopicConfirmsOrStays starts a session in a topic for two texts. Their card shows
// the outcome of the first one; if it cannot be sent, the other one is not sent without it.
func TestP4_StartFromTopicConfirmsOrStays(t *testing.T) {
	for name, fails := range map[string]bool{"it is sent": false, "it cannot be sent": true} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Session(t, "old", session.Failed)
			first, second := sayInTopic(t, w, "one", 0), sayInTopic(t, w, "two", 0)
			id := w.Telegram.LastID()
			if fails {
				w.Lifecycle.OnQueue = func(_ uuid.UUID, key string) error {
					if key == first {
						return &refusal.Error{Code: refusal.TmuxSilent}
					}
					return nil
				}
			}
			_ = w.TapShown(t, chattest.Alice, w.Shows(t, id), "Start in ~/old")
			w.Work(t)
			r, _ := w.CurrentSession(session.Conversation{ChatID: chattest.Ours, ThreadID: 9}, 0)
			if fails {
				assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), "tmux")
				assert.Equal(t, []inbox.State{inbox.Asked, inbox.Asked}, []inbox.State{w.EntryState(first), w.EntryState(second)})
				assert.Contains(t, chattest.Words(w.Shows(t, id)), w.Named(i18n.ButtonSendTo, r.Name))
				return
			}
			assert.Equal(t, []string{first, second}, queuedFor(w, w.Record(t, r.ID)))
			assert.Equal(t, strings.TrimSpace(w.Named(i18n.SentAndCurrent, r.Name)), w.Shows(t, id).Text.Text)
			assert.Empty(t, w.Shows(t, id).Buttons)
		})
	}
}

// TestTextAfterRebootResumesAll offers each session that went down as the one that gets the text.
func TestTextAfterRebootResumesAll(t *testing.T) {
	w := chattest.NewWorld(t)
	var lost []session.Record
	for _, name := range []string{"api", "web"} {
		lost = append(lost, w.Lost(t, name, session.ClosedReboot))
	}
	key := w.MustHear(t, "go on")
	card := w.LastSent(t)
	words := chattest.Words(card)
	for _, r := range lost {
		assert.Contains(t, words, w.Named(i18n.ButtonResumeAllSend, r.Name))
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, card, i18n.Key(w.Named(i18n.ButtonResumeAllSend, "web"))))
	done := w.Lifecycle.Done()
	keeps := slices.IndexFunc(done, func(line string) bool { return strings.Contains(line, key) })
	require.GreaterOrEqual(t, keeps, 0, "%v", done)
	assert.Contains(t, done[keeps], lost[1].ID.String())
	for _, r := range lost {
		assert.True(t, slices.ContainsFunc(done, func(line string) bool {
			return strings.HasPrefix(line, "restore") && strings.Contains(line, r.ID.String())
		}),
			"%s is resumed: %v", r.Name, done)
	}
}
