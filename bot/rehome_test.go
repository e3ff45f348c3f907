package bot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
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

// isIn requires that all of it is shown in a chat by now, of which a place is the name.
func (w *world) isIn(t *testing.T, seen, place session.Conversation, r session.Record, held inbox.Entry, q asked) {
	t.Helper()
	assert.Equal(t, place, w.record(t, r.ID).Conversation)
	e, err := w.entries.Load(held.Key)
	require.NoError(t, err)
	assert.Equal(t, place, e.Conversation)
	assert.Equal(t, inbox.Held, e.State)
	w.Mark(t.Context(), place, e.MessageID, reactionTyped)
	assert.Equal(t, "none yet", w.sender.reaction(77), "there is another message of that number, or none")
	c := w.card(t, q)
	assert.Equal(t, place, c.Conversation)
	assert.Equal(t, ask.StateOpen, c.State)
	require.Len(t, w.sender.sent, 4, "the request and the dialog are shown anew")
	assert.Equal(t, seen, w.sender.sent[2].To)
	assert.Equal(t, seen, w.sender.sent[3].To)
	request := w.shownAs(t, q)
	require.Contains(t, []int{3, 4}, request, "in any order")
	dialog := 3 + 4 - request
	assert.Contains(t, w.sender.sent[request-1].Text.Text, "go test")
	assert.Contains(t, w.sender.sent[dialog-1].Text.Text, "Do you trust")
	assert.Contains(t, words(w.sender.now(dialog)), trust.Options[0])
}

// shownAs is the id that the message of a request has in the chat.
func (w *world) shownAs(t *testing.T, q asked) int {
	t.Helper()
	c := w.card(t, q)
	_, id := w.Chats.Aliases.Out(c.Conversation.ChatID, w.message(t, q))
	return id
}

// migrates has a group become another chat, of which an update tells.
func (w *world) migrates(t *testing.T, from, to int64) {
	t.Helper()
	_, err := w.Bot.Moves.Note(from, to)
	require.NoError(t, err)
}

// startsAnew is the same world after a restart of the program, with what is known of chats on disk.
func (w *world) startsAnew(t *testing.T) {
	t.Helper()
	chats, err := OpenChats(filepath.Join(w.dir, "chats"))
	require.NoError(t, err)
	w.Chats = chats
	w.restart(t)
}

// saysIn handles a text of a person in a group.
func (w *world) saysIn(t *testing.T, group int64, m models.Message) inbox.Entry {
	t.Helper()
	m.Chat, m.From = groupChat(group), &models.User{ID: alice}
	key, u := w.accept(t, &m)
	require.NoError(t, w.Handle(t.Context(), key, u))
	e, err := w.entries.Load(key)
	require.NoError(t, err)
	return e
}

// TestP5_AGroupThatBecomesASupergroupTakesEverythingAlong: what waits there is shown and answered
// in the new chat, which is allowed because the old one was.
func TestP5_AGroupThatBecomesASupergroupTakesEverythingAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, held, q := w.settledIn(t, inGroup)
		mine := w.session(t, "mine", session.Running)
		require.False(t, w.Hears(alice, groupChat(grown)))
		w.migrates(t, ours, grown)
		w.settled(t)

		w.isIn(t, inGrown, inGroup, r, held, q)
		assert.Equal(t, atAlice, w.record(t, mine.ID).Conversation)
		require.NoError(t, w.tapOnShown(t, bob, w.shownAs(t, q), i18n.AskAllow))
		w.settled(t)
		assert.Equal(t, []string{"allow "}, w.relay.done())
		said := w.sender.last(t)
		assert.Equal(t, inGrown, said.To)
		assert.Equal(t, w.word(i18n.GroupMoved, i18n.Args{"From": strconv.FormatInt(ours, 10), "To": strconv.FormatInt(grown, 10)}), said.Text.Text)

		assert.Equal(t, r.ID, w.saysIn(t, grown, models.Message{Text: "more"}).Session, "it is the current one there")
		before := w.sender.texts()
		w.migrates(t, ours, grown)
		w.Bot.Moves.Migrated()
		w.settled(t)
		assert.Equal(t, before, w.sender.texts(), "it is told once")
		assert.Len(t, w.sender.sent, 4)
	})
}

// tapOnShown taps the button with a word under a message as the chat shows it by now.
func (w *world) tapOnShown(t *testing.T, from int64, id int, word i18n.Key) error {
	t.Helper()
	return w.pressOn(t, from, id, w.sender.now(id), w.word(word))
}

// TestP4_AMessageOfTheNewChatIsNotTakenForOneOfTheOld: the new chat numbers its messages anew, and
// a reply to a message there does not mean the session whose message had that number before.
func TestP4_AMessageOfTheNewChatIsNotTakenForOneOfTheOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, _, q := w.settledIn(t, inGroup)
		other := w.session(t, "other", session.Running)
		require.NoError(t, w.Chats.SetCurrent(inGroup, other.ID))
		reply := models.Message{Text: "and", ReplyToMessage: &models.Message{ID: 77, From: &models.User{ID: bob}}}
		require.Equal(t, r.ID, w.saysIn(t, ours, reply).Session)
		w.migrates(t, ours, grown)
		w.settled(t)
		reply.ID = 0
		assert.Equal(t, other.ID, w.saysIn(t, grown, reply).Session)

		reply.ID, reply.Text = 0, "late, from the old chat"
		late := w.saysIn(t, ours, reply)
		assert.Equal(t, r.ID, late.Session, "there it is that message")
		assert.Equal(t, inGroup, late.Conversation)
		assert.Equal(t, "none yet", w.sender.reaction(int(1000+w.updates)), "the new chat has another message of that number, or none")

		id := w.shownAs(t, q)
		reply.ID, reply.ReplyToMessage = 0, &models.Message{ID: id, From: &models.User{IsBot: true, Username: w.Username}}
		require.NoError(t, w.Chats.NoteSent(inGroup, w.message(t, q), r.ID)) // as the outbox tells
		assert.Equal(t, r.ID, w.saysIn(t, grown, reply).Session, "a message of the new chat is known")
	})
}

// TestP8_AButtonOfTheOldChatDoesNothing: neither before its card is posted again nor after it.
func TestP8_AButtonOfTheOldChatDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, _, q := w.settledIn(t, inGroup)
		request := w.shownAs(t, q)
		old := []outbox.Message{w.sender.now(1), w.sender.now(2)}
		pressed := func() {
			for i, m := range old {
				for _, row := range m.Buttons {
					for _, one := range row {
						require.NoError(t, w.Handle(t.Context(), "1", tapOn(alice, telegrams(i+1, m), one.Data)))
						assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
					}
				}
			}
		}
		w.migrates(t, ours, grown)
		pressed()
		w.settled(t)
		pressed()
		w.settled(t)
		assert.Empty(t, w.relay.done())
		assert.NotContains(t, strings.Join(w.sessions.done(), "\n"), "choose")
		assert.NotEqual(t, request, w.shownAs(t, q))
		require.NoError(t, w.tapOnShown(t, bob, w.shownAs(t, q), i18n.AskAllow))
		w.settled(t)
		assert.Equal(t, []string{"allow "}, w.relay.done(), "that of the new chat does")
	})
}

// TestP4_AGroupStaysAllowedUnderItsNewNumber: also after a restart, and as long as the old number
// is on the list.
func TestP4_AGroupStaysAllowedUnderItsNewNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, _, _ := w.settledIn(t, inGroup)
		w.migrates(t, ours, grown)
		w.settled(t)
		w.startsAnew(t)
		assert.True(t, w.Hears(alice, groupChat(grown)))
		assert.False(t, w.Hears(eve, groupChat(grown)))
		assert.True(t, w.MayShow(inGroup))
		assert.True(t, w.MayShow(inGrown))

		// What was written in the old chat, and waited, is answered in the new one.
		e := w.saysIn(t, ours, models.Message{ID: 900, Text: "more"})
		assert.Equal(t, inGroup, e.Conversation)
		assert.Equal(t, r.ID, e.Session)
		assert.Equal(t, "none yet", w.sender.reaction(900), "there is another message of that number, or none")
		require.NoError(t, w.Say(t.Context(), e.Conversation, "answer"))
		assert.Equal(t, inGrown, w.sender.last(t).To)

		delete(w.Groups, ours)
		assert.False(t, w.Hears(alice, groupChat(grown)), "who takes the group off the list means it")
		assert.False(t, w.MayShow(inGroup))
		w.Groups[grown] = true
		assert.True(t, w.Hears(alice, groupChat(grown)))
		assert.True(t, w.Hears(alice, groupChat(ours)))
		assert.True(t, w.MayShow(inGroup), "what has the old number is shown, too")
		assert.Equal(t, r.ID, w.saysIn(t, grown, models.Message{Text: "and more"}).Session)
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
				w.migrates(t, tt.from, tt.to)
				w.settled(t)
				assert.Len(t, w.sender.texts(), tt.told)
				_, err := os.Stat(filepath.Join(w.dir, "chats", "moved.json"))
				assert.Equal(t, tt.moves, err == nil)
				require.NoError(t, w.Say(t.Context(), inGroup, "hello"))
				if tt.moves {
					assert.Equal(t, inGrown, w.sender.last(t).To)
				} else {
					assert.Equal(t, inGroup, w.sender.last(t).To)
				}
			})
		})
	}
}

// TestP5_AGroupThatMovesTwiceIsOnePlace: in whatever order, and however often, that is told.
func TestP5_AGroupThatMovesTwiceIsOnePlace(t *testing.T) {
	const last = int64(-1009999999999)
	first, second := [2]int64{ours, grown}, [2]int64{grown, last}
	for name, news := range map[string][][2]int64{
		"in order":      {first, second},
		"the last news": {second, first},
		"all twice":     {first, second, first, second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.Groups[grown] = true // else the later news would be none of ours
				r, held, q := w.settledIn(t, inGroup)
				for _, one := range news {
					w.migrates(t, one[0], one[1])
				}
				w.settled(t)
				w.startsAnew(t)
				w.settled(t)
				w.isIn(t, session.Conversation{ChatID: last}, inGroup, r, held, q)
				assert.Len(t, w.sender.texts(), 1)
				for _, chat := range []int64{ours, grown, last} {
					assert.Equal(t, r.ID, w.saysIn(t, chat, models.Message{Text: "more"}).Session)
				}
			})
		})
	}
}

// What was kept under the new number, because nobody knew of the old one, is of the one place then.
func TestAGroupThatIsKnownByBothNumbersBecomesOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Groups[grown] = true
		r, held, q := w.settledIn(t, inGrown)
		old := w.session(t, "old", session.Running)
		w.records.change(old.ID, func(r *session.Record) { r.Conversation = inGroup })
		require.NoError(t, w.Chats.Aliases.Note(ours, grown)) // the outbox finds out
		w.Bot.Moves.Migrated()
		w.settled(t)
		w.isIn(t, inGrown, inGroup, r, held, q)
		assert.Equal(t, r.ID, w.saysIn(t, grown, models.Message{Text: "more"}).Session)
	})
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
				key, u := w.accept(t, &tt.m)
				require.NoError(t, w.Handle(t.Context(), key, u))
				w.settled(t)
				assert.Equal(t, tt.moves, w.Hears(alice, groupChat(grown)))
				assert.False(t, w.Hears(alice, groupChat(-301)))
				if !tt.moves {
					w.silent(t)
					return
				}
				assert.Equal(t, inGrown, w.sender.last(t).To)
			})
		})
	}
}

// TestP8_NewsOfAMoveAreNotFinishedBeforeTheyAreKept: the inbox hands them on again.
func TestP8_NewsOfAMoveAreNotFinishedBeforeTheyAreKept(t *testing.T) {
	w := newWorld(t)
	chats := filepath.Join(w.dir, "chats")
	require.NoError(t, os.Rename(chats, chats+"-away"))
	require.NoError(t, os.WriteFile(chats, nil, 0o600), "a file is in the way")
	key, u := w.accept(t, &models.Message{Chat: groupChat(ours), MigrateToChatID: grown})
	require.Error(t, w.Handle(t.Context(), key, u))
	_, err := w.Bot.Moves.Note(ours, grown)
	require.Error(t, err, "and it comes again from Telegram")
	require.NoError(t, errors.Join(os.Remove(chats), os.Rename(chats+"-away", chats)))
	require.NoError(t, w.Handle(t.Context(), key, u))
	assert.True(t, w.Hears(alice, groupChat(grown)))
}

// TestP5_ADeletedTopicLeadsToItsChat: what is shown there is shown in the chat.
func TestP5_ADeletedTopicLeadsToItsChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		mine := w.currentSession(t, "mine", session.Running)
		r, held, q := w.settledIn(t, inTopic)
		w.Bot.Moves.TopicGone(inTopic)
		w.Bot.Moves.TopicGone(session.Conversation{ChatID: alice, ThreadID: 10})
		w.settled(t)

		w.isIn(t, atAlice, atAlice, r, held, q)
		now, err := w.Chats.Current(atAlice)
		require.NoError(t, err)
		assert.Equal(t, mine.ID, now, "the chat keeps its own")
		whose, known := w.Chats.SessionOf(atAlice, 77)
		assert.True(t, known)
		assert.Equal(t, r.ID, whose)
		assert.Equal(t, []string{w.word(i18n.TopicLost, i18n.Args{"Count": 1, "Names": "api"})}, w.sender.texts())
		assert.Equal(t, atAlice, w.sender.last(t).To)

		w.Bot.Moves.TopicGone(inTopic)
		w.settled(t)
		assert.Len(t, w.sender.texts(), 1, "it is told once")
		conversations, err := w.Chats.All()
		require.NoError(t, err)
		assert.NotContains(t, conversations, inTopic)
	})
}

// TestP8_AMoveThatIsCutShortIsFinished: at whatever step a crash comes; it repeats one sentence at most.
func TestP8_AMoveThatIsCutShortIsFinished(t *testing.T) {
	const steps = 4 // the request, the dialog, the sentence: sent or posted; noted
	for step := range steps {
		t.Run(strconv.Itoa(step), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				r, held, q := w.settledIn(t, inGroup)
				var done atomic.Int32 // the cards and the sentence are posted side by side
				dies := func() error {
					if int(done.Add(1)) > step {
						return errDisk
					}
					return nil
				}
				w.sender.post = func(outbox.Message) error { return dies() }
				w.sender.send = func(context.Context, outbox.Message) error { return dies() }
				w.migrates(t, ours, grown) // by the next line it is on disk
				w.settled(t)
				w.sender.post, w.sender.send = nil, nil

				// Nothing tells of it again: the next start goes on by what was kept.
				w.startsAnew(t)
				w.settled(t)
				w.isIn(t, inGrown, inGroup, r, held, q)
				assert.Len(t, w.sender.texts(), 1)
				w.startsAnew(t)
				w.settled(t)
				w.isIn(t, inGrown, inGroup, r, held, q)
				assert.Len(t, w.sender.texts(), 1)
			})
		})
	}
}

// TestP8_ACrashRepeatsTheSentenceOfAMoveOnce: when it was told and that is not noted.
func TestP8_ACrashRepeatsTheSentenceOfAMoveOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, held, q := w.settledIn(t, inGroup)
		w.migrates(t, ours, grown)
		w.Failpoint = func(name string) {
			if name == "move-told" {
				panic("killed")
			}
		}
		assert.PanicsWithValue(t, "killed", func() { _ = w.Bot.Moves.Run(t.Context()) })
		w.Failpoint = nil
		w.startsAnew(t)
		assert.True(t, w.Hears(alice, models.Chat{ID: grown, Type: models.ChatTypeSupergroup}))
		w.settled(t)
		w.isIn(t, inGrown, inGroup, r, held, q)
		assert.Len(t, w.sender.texts(), 2)
		w.startsAnew(t)
		w.settled(t)
		assert.Len(t, w.sender.texts(), 2)
	})
}

func TestAMoveThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r, held, q := w.settledIn(t, inTopic)
		w.sessions.move = func(uuid.UUID, session.Conversation) error { return errors.New("disk full") }
		w.Bot.Moves.TopicGone(inTopic)
		w.settled(t)
		assert.Equal(t, inTopic, w.record(t, r.ID).Conversation)
		stop := w.running(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NoError(t, stop())
		w.sessions.move = nil
		w.settled(t)
		w.isIn(t, atAlice, atAlice, r, held, q)
		assert.Equal(t, []string{w.word(i18n.TopicLost, i18n.Args{"Count": 1, "Names": "api"})}, w.sender.texts(),
			"it is told once, however often the move fails")
	})
}

// TestP8_AStartFinishesWhatAnEarlierOneBegan: without being told again, and as often as it takes.
func TestP8_AStartFinishesWhatAnEarlierOneBegan(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Chats.Aliases.Note(ours, grown))
	synctest.Test(t, func(t *testing.T) {
		w.again()
		failed := 0
		w.sender.post = func(outbox.Message) error {
			if failed++; failed < 3 {
				return errDisk
			}
			return nil
		}
		stop := w.running(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, 3, failed)
		assert.Equal(t, inGrown, w.sender.last(t).To)
		w.Bot.Moves.TopicGone(inTopic)
		synctest.Wait()
		require.NoError(t, stop())
	})
	assert.Len(t, w.sender.texts(), 1)
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
		w.migrates(t, ours, grown)
		synctest.Wait()
		require.NoError(t, stop())
		assert.Zero(t, w.message(t, q))
		w.restart(t)
		w.settled(t)
		assert.Len(t, w.sender.sent, 2, "nothing is shown anew")
		assert.Empty(t, w.sender.edited, "and nothing is changed that is not there")
	})
}
