package bot

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

const grown = int64(-1001234567890) // what the group becomes

var (
	inGrown = session.Conversation{ChatID: grown}
	inTopic = session.Conversation{ChatID: alice, ThreadID: 9}
)

// settledIn is a session with everything that may be shown of one in a conversation.
func (w *world) settledIn(t *testing.T, to session.Conversation) (r session.Record, held inbox.Entry, q asked) {
	t.Helper()
	r = w.session(t, "api", session.Running)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = to })
	r = w.record(t, r.ID)
	require.NoError(t, w.Chats.SetCurrent(to, r.ID))
	require.NoError(t, w.Chats.NoteDir(to, "/srv"))
	require.NoError(t, w.Chats.NoteMessage(to, 77, r.ID))
	w.updates++
	held = inbox.Entry{Key: inbox.UpdateKey(w.updates), Received: started, State: inbox.Held, Session: r.ID,
		Conversation: to, MessageID: 77, Text: "do it"}
	_, err := w.entries.Add(held)
	require.NoError(t, err)
	q = w.asksFor(t, r, "Bash", bash)
	w.sessions.dialog = trust
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
	w.work(t)
	require.Len(t, w.sender.sent, 2)
	return r, held, q
}

// isIn requires that all of it is shown in a conversation by now.
func (w *world) isIn(t *testing.T, to session.Conversation, r session.Record, held inbox.Entry, q asked) {
	t.Helper()
	assert.Equal(t, to, w.record(t, r.ID).Conversation)
	e, err := w.entries.Load(held.Key)
	require.NoError(t, err)
	assert.Equal(t, to, e.Conversation)
	assert.Zero(t, e.MessageID)
	assert.Equal(t, inbox.Held, e.State)
	c := w.card(t, q)
	assert.Equal(t, to, c.Conversation)
	assert.Equal(t, ask.StateOpen, c.State)
	require.Len(t, w.sender.sent, 4, "the request and the dialog are shown anew")
	assert.Equal(t, to, w.sender.sent[2].To)
	assert.Equal(t, to, w.sender.sent[3].To)
	message := w.message(t, q)
	require.Contains(t, []int{3, 4}, message, "in any order")
	dialog := 3 + 4 - message
	assert.Contains(t, w.sender.sent[message-1].Text.Text, "go test")
	assert.Contains(t, w.sender.sent[dialog-1].Text.Text, "Do you trust")
	assert.Contains(t, words(w.sender.now(dialog)), trust.Options[0])
	dirs, err := w.Chats.Dirs(to)
	require.NoError(t, err)
	assert.Equal(t, []string{"/srv"}, dirs)
}

// TestP5_AGroupThatBecomesASupergroupTakesEverythingAlong: what waits there is
// shown and answered in the new chat, which is allowed because the old one was.
func TestP5_AGroupThatBecomesASupergroupTakesEverythingAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, held, q := w.settledIn(t, inGroup)
		over := w.session(t, "old", session.Archived)
		w.records.change(over.ID, func(r *session.Record) { r.Conversation = inGroup })
		mine := w.session(t, "mine", session.Running)
		require.False(t, w.Hears(alice, groupChat(grown)))
		w.Migrated(ours, grown)
		w.settled(t)

		w.isIn(t, inGrown, r, held, q)
		assert.Equal(t, inGrown, w.record(t, over.ID).Conversation)
		assert.Equal(t, atAlice, w.record(t, mine.ID).Conversation)
		w.tapsOn(t, bob, q, i18n.AskAllow)
		w.settled(t)
		assert.Equal(t, []string{"allow "}, w.relay.done())
		now, err := w.Chats.Current(inGrown)
		require.NoError(t, err)
		assert.Equal(t, r.ID, now)
		_, known := w.Chats.SessionOf(inGrown, 77)
		assert.False(t, known, "another message may have that number there")
		said := w.sender.last(t)
		assert.Equal(t, inGrown, said.To)
		assert.Equal(t, w.word(i18n.GroupMoved, i18n.Args{"From": strconv.FormatInt(ours, 10), "To": strconv.FormatInt(grown, 10)}), said.Text.Text)

		w.Migrated(ours, grown)
		w.settled(t)
		assert.Len(t, w.sender.texts(), 1, "it is told once")
		assert.Len(t, w.sender.sent, 4)
	})
}

// TestP4_AGroupStaysAllowedUnderItsNewNumber: also after a restart, and as long as
// the old number is on the list.
func TestP4_AGroupStaysAllowedUnderItsNewNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, _, _ := w.settledIn(t, inGroup)
		w.Migrated(ours, grown)
		w.settled(t)
		chats, err := OpenChats(filepath.Join(w.dir, "chats"))
		require.NoError(t, err)
		w.Chats = chats
		w.restart(t)
		assert.True(t, w.Hears(alice, groupChat(grown)))
		assert.False(t, w.Hears(eve, groupChat(grown)))
		assert.True(t, w.MayShow(inGrown))

		for from, to := range w.Chats.Moves() { // as a start does
			w.Migrated(from, to)
		}
		w.settled(t)
		// What was written in the old chat, and waited, is answered in the new one.
		m := &models.Message{ID: 900, From: &models.User{ID: alice}, Chat: groupChat(ours), Text: "more"}
		key, u := w.accept(t, m)
		require.NoError(t, w.Handle(t.Context(), key, u))
		assert.Equal(t, inGrown, w.record(t, r.ID).Conversation)
		e, err := w.entries.Load(key)
		require.NoError(t, err)
		assert.Equal(t, inGrown, e.Conversation)
		assert.Equal(t, r.ID, e.Session)
		assert.Equal(t, "none yet", w.sender.reaction(900), "there is another message of that number, or none")

		delete(w.Groups, ours)
		assert.False(t, w.Hears(alice, groupChat(grown)), "who takes the group off the list means it")
		w.Groups[grown] = true
		assert.True(t, w.Hears(alice, groupChat(grown)))
	})
}

func TestGroupsThatMove(t *testing.T) {
	tests := []struct {
		name     string
		from, to int64
		change   func(w *world)
		told     int
		moves    bool
	}{
		{"ours", ours, grown, func(*world) {}, 1, true},
		{"somebody else's", -300, -301, func(*world) {}, 0, false},
		{"with the new number on the list", ours, grown, func(w *world) { w.Groups[grown] = true }, 0, true},
		{"with only the new number on the list", ours, grown, func(w *world) { delete(w.Groups, ours); w.Groups[grown] = true }, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				tt.change(w)
				r := w.session(t, "api", session.Running)
				w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
				w.Migrated(tt.from, tt.to)
				w.settled(t)
				assert.Len(t, w.sender.texts(), tt.told)
				assert.Equal(t, tt.moves, w.record(t, r.ID).Conversation == inGrown)
				_, err := os.Stat(filepath.Join(w.dir, "chats", "moved.json"))
				assert.Equal(t, tt.moves, err == nil)
			})
		})
	}
}

// TestP9_AStrangersGroupStaysStrange: the news of a move makes no group allowed.
func TestP9_AStrangersGroupStaysStrange(t *testing.T) {
	tests := []struct {
		name  string
		m     models.Message
		moves bool
	}{
		{"the old chat is told", models.Message{Chat: groupChat(ours), MigrateToChatID: grown}, true},
		{"the new chat is told", models.Message{Chat: groupChat(grown), MigrateFromChatID: ours}, true},
		{"by somebody who may not speak", models.Message{Chat: groupChat(ours), MigrateToChatID: grown, From: &models.User{ID: eve}}, true},
		{"another group", models.Message{Chat: groupChat(-300), MigrateToChatID: -301, From: &models.User{ID: alice}}, false},
		{"another group, in the new chat", models.Message{Chat: groupChat(-301), MigrateFromChatID: -300, From: &models.User{ID: alice}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				r := w.session(t, "api", session.Running)
				w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
				key, u := w.accept(t, &tt.m)
				require.NoError(t, w.Handle(t.Context(), key, u))
				w.settled(t)
				assert.Equal(t, tt.moves, w.Hears(alice, groupChat(grown)))
				assert.False(t, w.Hears(alice, groupChat(-301)))
				assert.Equal(t, tt.moves, w.record(t, r.ID).Conversation == inGrown)
				if !tt.moves {
					w.silent(t)
				}
			})
		})
	}
}

// TestP5_ADeletedTopicLeadsToItsChat: what is shown there is shown in the chat.
func TestP5_ADeletedTopicLeadsToItsChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		mine := w.currentSession(t, "mine", session.Running)
		r, held, q := w.settledIn(t, inTopic)
		w.TopicGone(inTopic)
		w.TopicGone(session.Conversation{ChatID: alice, ThreadID: 10})
		w.settled(t)

		w.isIn(t, atAlice, r, held, q)
		now, err := w.Chats.Current(atAlice)
		require.NoError(t, err)
		assert.Equal(t, mine.ID, now, "the chat keeps its own")
		whose, known := w.Chats.SessionOf(atAlice, 77)
		assert.True(t, known)
		assert.Equal(t, r.ID, whose)
		assert.Equal(t, []string{w.word(i18n.TopicLost, i18n.Args{"Count": 1, "Names": "api"})}, w.sender.texts())
		assert.Equal(t, atAlice, w.sender.last(t).To)

		w.TopicGone(inTopic)
		w.settled(t)
		assert.Len(t, w.sender.texts(), 1, "it is told once")
		conversations, err := w.Chats.All()
		require.NoError(t, err)
		assert.NotContains(t, conversations, inTopic)
	})
}

// TestP8_AMoveThatIsCutShortIsFinished: a crash repeats one sentence at most.
func TestP8_AMoveThatIsCutShortIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, held, q := w.settledIn(t, inGroup)
		w.Migrated(ours, grown)
		w.Failpoint = func(name string) {
			if name == "move-told" {
				panic("killed")
			}
		}
		joined := models.Message{From: &models.User{ID: alice}, Chat: groupChat(ours), NewChatMembers: []models.User{{ID: bob}}}
		require.Panics(t, func() { _ = w.Handle(t.Context(), "1", &models.Update{Message: &joined}) }, "before it is heard")
		w.Failpoint = nil
		assert.Equal(t, inGroup, w.record(t, r.ID).Conversation)

		// Nothing tells of it again: the next start goes on by what was kept.
		w.restart(t)
		assert.True(t, w.Hears(alice, models.Chat{ID: grown, Type: models.ChatTypeSupergroup}))
		for from, to := range w.Chats.Moves() {
			w.Migrated(from, to)
		}
		w.settled(t)
		w.isIn(t, inGrown, r, held, q)
		assert.Len(t, w.sender.texts(), 2)

		// Killed after it was kept, before all was moved: the next start goes on.
		w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
		w.restart(t)
		for from, to := range w.Chats.Moves() {
			w.Migrated(from, to)
		}
		w.settled(t)
		assert.Equal(t, inGrown, w.record(t, r.ID).Conversation)
		assert.Len(t, w.sender.texts(), 2)
	})
}

func TestAMoveThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, held, q := w.settledIn(t, inTopic)
		w.sessions.move = func(uuid.UUID, session.Conversation) error { return errors.New("disk full") }
		w.TopicGone(inTopic)
		w.settled(t)
		assert.Equal(t, inTopic, w.record(t, r.ID).Conversation)
		w.sessions.move = nil
		w.settled(t)
		w.isIn(t, atAlice, r, held, q)
	})
}

// TestP8_AStartFinishesWhatAnEarlierOneBegan: without being told again, and as often
// as it takes.
func TestP8_AStartFinishesWhatAnEarlierOneBegan(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
	require.NoError(t, errors.Join(w.Chats.NoteMove(ours, grown), w.Chats.NoteMoveTold(ours, grown)))
	synctest.Test(t, func(t *testing.T) {
		w.again()
		failed := 0
		w.sessions.move = func(id uuid.UUID, to session.Conversation) error {
			if failed++; failed < 3 {
				return errors.New("disk full")
			}
			w.records.change(id, func(r *session.Record) { r.Conversation = to })
			return nil
		}
		stop := w.running(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, inGrown, w.record(t, r.ID).Conversation)
		assert.Equal(t, 3, failed)
		w.TopicGone(inTopic)
		synctest.Wait()
		require.NoError(t, stop())
	})
	assert.Empty(t, w.sender.texts())
}

func TestWhatIsOverStaysBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, _, q := w.settledIn(t, inGroup)
		w.writes(t, q, "", "ok", false)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
		stop := w.running(t)
		synctest.Wait()
		require.True(t, w.card(t, q).IsOver())
		w.sender.edited = nil
		w.Migrated(ours, grown)
		synctest.Wait()
		require.NoError(t, stop())
		assert.Zero(t, w.message(t, q))
		w.restart(t)
		w.settled(t)
		assert.Len(t, w.sender.sent, 2, "nothing is shown anew")
		assert.Empty(t, w.sender.edited, "and nothing is changed that is not there")
	})
}
