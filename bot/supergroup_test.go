package bot_test

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

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
)

var (
	inGrown = session.Conversation{ChatID: chattest.Grown}
)

// TestP5_SupergroupKeepsGroupState: what waits there is shown and answered
// in the new chat, which is allowed because the old one was.
func TestP5_SupergroupKeepsGroupState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r, held, q := w.SettledIn(t, chattest.InGroup)
		mine := w.Session(t, "mine", session.Running)
		require.False(t, w.IsAuthorized(chattest.Alice, chattest.GroupChat(chattest.Grown)))
		w.Migrates(t, chattest.Ours, chattest.Grown)
		w.Settled(t)

		w.IsIn(t, inGrown, chattest.InGroup, r, held, q)
		assert.Equal(t, chattest.AtAlice, w.Record(t, mine.ID).Conversation)
		require.NoError(t, w.TapOnShown(t, chattest.Bob, w.ShownAs(t, q), i18n.AskAllow))
		w.Settled(t)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
		said := w.Telegram.Last(t)
		assert.Equal(t, inGrown, said.To)
		assert.Equal(t, w.Word(i18n.GroupMoved, i18n.Args{"From": strconv.FormatInt(chattest.Ours, 10), "To": strconv.FormatInt(chattest.Grown, 10)}), said.Text.Text)

		assert.Equal(t, r.ID, w.SaysIn(t, chattest.Grown, models.Message{Text: "more"}).Session, "it is the current one there")
		before := w.Telegram.Texts()
		w.Migrates(t, chattest.Ours, chattest.Grown)
		w.Bot.Moves.Migrated()
		w.Settled(t)
		assert.Equal(t, before, w.Telegram.Texts(), "it is told once")
		assert.Len(t, w.Telegram.Sent, 4)
	})
}

// TestP4_NewChatsMessageIsDistinct: the new chat numbers its messages again, and a reply there does
// not mean the session whose message had that number before.
func TestP4_NewChatsMessageIsDistinct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r, _, q := w.SettledIn(t, chattest.InGroup)
		other := w.Session(t, "other", session.Running)
		require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, other.ID))
		reply := models.Message{Text: "and", ReplyToMessage: &models.Message{ID: 77, From: &models.User{ID: chattest.Bob}}}
		require.Equal(t, r.ID, w.SaysIn(t, chattest.Ours, reply).Session)
		w.Migrates(t, chattest.Ours, chattest.Grown)
		w.Settled(t)
		reply.ID = 0
		assert.Equal(t, other.ID, w.SaysIn(t, chattest.Grown, reply).Session)

		reply.ID, reply.Text = 0, "late, from the old chat"
		late := w.SaysIn(t, chattest.Ours, reply)
		assert.Equal(t, r.ID, late.Session, "there it is that message")
		assert.Equal(t, chattest.InGroup, late.Conversation)
		assert.Equal(t, "none yet", w.Telegram.Reaction(int(1000+w.Updates)), "the new chat has another message of that number, or none")

		id := w.ShownAs(t, q)
		reply.ID, reply.ReplyToMessage = 0, &models.Message{ID: id, From: &models.User{IsBot: true, Username: w.Username}}
		require.NoError(t, w.Chats.NoteMessage(chattest.InGroup, w.Message(t, q), r.ID)) // as the outbox tells
		assert.Equal(t, r.ID, w.SaysIn(t, chattest.Grown, reply).Session, "a message of the new chat is known")
	})
}

// TestP8_OldChatsButtonDoesNothing: neither before its card is posted again nor after it.
func TestP8_OldChatsButtonDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		_, _, q := w.SettledIn(t, chattest.InGroup)
		request := w.ShownAs(t, q)
		old := []outbox.Message{w.Telegram.Now(1), w.Telegram.Now(2)}
		pressed := func() {
			for i, m := range old {
				for _, row := range m.Buttons {
					for _, one := range row {
						require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Alice, chattest.Telegrams(i+1, m), one.Data)))
						assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
					}
				}
			}
		}
		w.Migrates(t, chattest.Ours, chattest.Grown)
		pressed()
		w.Settled(t)
		pressed()
		w.Settled(t)
		assert.Empty(t, w.Relay.Done())
		assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "choose")
		assert.NotEqual(t, request, w.ShownAs(t, q))
		require.NoError(t, w.TapOnShown(t, chattest.Bob, w.ShownAs(t, q), i18n.AskAllow))
		w.Settled(t)
		assert.Equal(t, []string{"allow "}, w.Relay.Done(), "that of the new chat does")
	})
}

// TestP4_SupergroupStaysAllowed: also after a restart, and as long as the old number
// is on the list.
func TestP4_SupergroupStaysAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r, _, _ := w.SettledIn(t, chattest.InGroup)
		w.Migrates(t, chattest.Ours, chattest.Grown)
		w.Settled(t)
		w.StartsAnew(t)
		assert.True(t, w.IsAuthorized(chattest.Alice, chattest.GroupChat(chattest.Grown)))
		assert.False(t, w.IsAuthorized(chattest.Eve, chattest.GroupChat(chattest.Grown)))
		assert.True(t, w.MayShow(chattest.InGroup))
		assert.True(t, w.MayShow(inGrown))

		// A message written in the old chat that waited is answered in the new one.
		e := w.SaysIn(t, chattest.Ours, models.Message{ID: 900, Text: "more"})
		assert.Equal(t, chattest.InGroup, e.Conversation)
		assert.Equal(t, r.ID, e.Session)
		assert.Equal(t, "none yet", w.Telegram.Reaction(900), "there is another message of that number, or none")
		require.NoError(t, w.Say(t.Context(), e.Conversation, "answer"))
		assert.Equal(t, inGrown, w.Telegram.Last(t).To)

		delete(w.Groups, chattest.Ours)
		assert.False(t, w.IsAuthorized(chattest.Alice, chattest.GroupChat(chattest.Grown)), "who takes the group off the list means it")
		assert.False(t, w.MayShow(chattest.InGroup))
		w.Groups[chattest.Grown] = true
		assert.True(t, w.IsAuthorized(chattest.Alice, chattest.GroupChat(chattest.Grown)))
		assert.True(t, w.IsAuthorized(chattest.Alice, chattest.GroupChat(chattest.Ours)))
		assert.True(t, w.MayShow(chattest.InGroup), "what has the old number is shown, too")
		assert.Equal(t, r.ID, w.SaysIn(t, chattest.Grown, models.Message{Text: "and more"}).Session)
	})
}

func TestGroupsThatMove(t *testing.T) {
	tests := []struct {
		name     string
		from, to int64
		change   func(w *chattest.World)
		reported int
		moves    bool
	}{
		{"ours", chattest.Ours, chattest.Grown, func(*chattest.World) {}, 1, true},
		{"somebody else's", -300, -301, func(*chattest.World) {}, 0, false},
		{"with the new number on the list", chattest.Ours, chattest.Grown, func(w *chattest.World) { w.Groups[chattest.Grown] = true }, 0, true},
		{"with only the new number on the list", chattest.Ours, chattest.Grown, func(w *chattest.World) { delete(w.Groups, chattest.Ours); w.Groups[chattest.Grown] = true }, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				tt.change(w)
				w.Migrates(t, tt.from, tt.to)
				w.Settled(t)
				assert.Len(t, w.Telegram.Texts(), tt.reported)
				_, err := os.Stat(filepath.Join(w.Dir, "chats", "moved.json"))
				assert.Equal(t, tt.moves, err == nil)
				require.NoError(t, w.Say(t.Context(), chattest.InGroup, "hello"))
				if tt.moves {
					assert.Equal(t, inGrown, w.Telegram.Last(t).To)
				} else {
					assert.Equal(t, chattest.InGroup, w.Telegram.Last(t).To)
				}
			})
		})
	}
}

// TestP5_TwiceMigratedGroupIsOneChat, if the migrations are reported in any order and number.
func TestP5_TwiceMigratedGroupIsOneChat(t *testing.T) {
	const last = int64(-1009999999999)
	first, second := [2]int64{chattest.Ours, chattest.Grown}, [2]int64{chattest.Grown, last}
	for name, news := range map[string][][2]int64{
		"in order":      {first, second},
		"the last news": {second, first},
		"all twice":     {first, second, first, second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				w.Groups[chattest.Grown] = true // otherwise the later news would be foreign
				r, held, q := w.SettledIn(t, chattest.InGroup)
				for _, one := range news {
					w.Migrates(t, one[0], one[1])
				}
				w.Settled(t)
				w.StartsAnew(t)
				w.Settled(t)
				w.IsIn(t, session.Conversation{ChatID: last}, chattest.InGroup, r, held, q)
				assert.Len(t, w.Telegram.Texts(), 1)
				for _, chat := range []int64{chattest.Ours, chattest.Grown, last} {
					assert.Equal(t, r.ID, w.SaysIn(t, chat, models.Message{Text: "more"}).Session)
				}
			})
		})
	}
}

// State stored under the new number, before the old one was known, then belongs to the one chat.
func TestGroupWithBothNumbersIsMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Groups[chattest.Grown] = true
		r, held, q := w.SettledIn(t, inGrown)
		old := w.Session(t, "old", session.Running)
		w.Records.Change(old.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		require.NoError(t, w.Chats.Aliases.Note(chattest.Ours, chattest.Grown)) // the outbox finds out
		w.Bot.Moves.Migrated()
		w.Settled(t)
		w.IsIn(t, inGrown, chattest.InGroup, r, held, q)
		assert.Equal(t, r.ID, w.SaysIn(t, chattest.Grown, models.Message{Text: "more"}).Session)
	})
}

// TestP9_StrangersGroupStaysForeign: the news of a move makes no group allowed.
func TestP9_StrangersGroupStaysForeign(t *testing.T) {
	tests := []struct {
		name  string
		m     models.Message
		moves bool
	}{
		{"the old chat is told", models.Message{Chat: chattest.GroupChat(chattest.Ours), MigrateToChatID: chattest.Grown}, true},
		{"the new chat is told", models.Message{Chat: chattest.GroupChat(chattest.Grown), MigrateFromChatID: chattest.Ours}, true},
		{"by somebody who may not speak", models.Message{Chat: chattest.GroupChat(chattest.Ours), MigrateToChatID: chattest.Grown, From: &models.User{ID: chattest.Eve}}, true},
		{"another group", models.Message{Chat: chattest.GroupChat(-300), MigrateToChatID: -301, From: &models.User{ID: chattest.Alice}}, false},
		{"another group, in the new chat", models.Message{Chat: chattest.GroupChat(-301), MigrateFromChatID: -300, From: &models.User{ID: chattest.Alice}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				key, u := w.Accept(t, &tt.m)
				require.NoError(t, w.Handle(t.Context(), key, u))
				w.Settled(t)
				assert.Equal(t, tt.moves, w.IsAuthorized(chattest.Alice, chattest.GroupChat(chattest.Grown)))
				assert.False(t, w.IsAuthorized(chattest.Alice, chattest.GroupChat(-301)))
				if !tt.moves {
					w.Silent(t)
					return
				}
				assert.Equal(t, inGrown, w.Telegram.Last(t).To)
			})
		})
	}
}

// TestP8_MoveIsSavedBeforeUpdateEnds: the inbox hands them on again.
func TestP8_MoveIsSavedBeforeUpdateEnds(t *testing.T) {
	w := chattest.NewWorld(t)
	chats := filepath.Join(w.Dir, "chats")
	require.NoError(t, os.Rename(chats, chats+"-away"))
	require.NoError(t, os.WriteFile(chats, nil, 0o600), "a file is in the way")
	key, u := w.Accept(t, &models.Message{Chat: chattest.GroupChat(chattest.Ours), MigrateToChatID: chattest.Grown})
	require.Error(t, w.Handle(t.Context(), key, u))
	_, err := w.Bot.Moves.Note(chattest.Ours, chattest.Grown)
	require.Error(t, err, "and it comes again from Telegram")
	require.NoError(t, errors.Join(os.Remove(chats), os.Rename(chats+"-away", chats)))
	require.NoError(t, w.Handle(t.Context(), key, u))
	assert.True(t, w.IsAuthorized(chattest.Alice, chattest.GroupChat(chattest.Grown)))
}

// TestP5_DeletedTopicLeadsToChat: its messages are shown in the chat.
func TestP5_DeletedTopicLeadsToChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		mine := w.NewCurrentSession(t, "mine", session.Running)
		r, held, q := w.SettledIn(t, chattest.InTopic)
		w.Bot.Moves.TopicGone(chattest.InTopic)
		w.Bot.Moves.TopicGone(session.Conversation{ChatID: chattest.Alice, ThreadID: 10})
		w.Settled(t)

		w.IsIn(t, chattest.AtAlice, chattest.AtAlice, r, held, q)
		now := w.Chats.Current(chattest.AtAlice)
		assert.Equal(t, mine.ID, now, "the chat keeps its own")
		whose, known := w.Chats.SessionOf(chattest.AtAlice, 77)
		assert.True(t, known)
		assert.Equal(t, r.ID, whose)
		assert.Equal(t, []string{w.Word(i18n.TopicLost, i18n.Args{"Count": 1, "Names": "api"})}, w.Telegram.Texts())
		assert.Equal(t, chattest.AtAlice, w.Telegram.Last(t).To)

		w.Bot.Moves.TopicGone(chattest.InTopic)
		w.Settled(t)
		assert.Len(t, w.Telegram.Texts(), 1, "it is told once")
		assert.NotContains(t, w.Chats.All(), chattest.InTopic)
	})
}

// Messages that a person requested in a topic are removed with the topic.
func TestOnlyQuestionsOutliveDeletedTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.SettledIn(t, chattest.InForum(0))
		for _, command := range []string{"/list", "/settings", "/kill"} {
			w.MustSayInForum(t, chattest.FirstTopic, command)
		}
		w.Settled(t)
		there := len(w.Telegram.Sent)
		require.Equal(t, 5, there)
		w.Bot.Moves.TopicGone(chattest.InForum(0))
		w.Settled(t)
		asked := w.Word(i18n.TopicLost, i18n.Args{"Count": 1, "Names": "api"})
		want, anew := []string{w.Telegram.Sent[0].Text.Text, w.Telegram.Sent[1].Text.Text, asked}, []string(nil)
		for _, m := range w.Telegram.Sent[there:] {
			assert.Equal(t, chattest.InGroup, m.To)
			anew = append(anew, m.Text.Text)
		}
		assert.ElementsMatch(t, want, anew)
	})
}

// TestP8_InterruptedMoveIsFinished after a crash at each step; it repeats at most one sentence.
func TestP8_InterruptedMoveIsFinished(t *testing.T) {
	const steps = 4 // the request, the dialog, the sentence: sent or posted; noted
	for step := range steps {
		t.Run(strconv.Itoa(step), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				r, held, q := w.SettledIn(t, chattest.InGroup)
				var done atomic.Int32 // the cards and the sentence are posted side by side
				dies := func() error {
					if int(done.Add(1)) > step {
						return chattest.ErrDisk
					}
					return nil
				}
				w.Telegram.OnPost = func(outbox.Message) error { return dies() }
				w.Telegram.OnSend = func(context.Context, outbox.Message) error { return dies() }
				w.Migrates(t, chattest.Ours, chattest.Grown) // by the next line it is on disk
				w.Settled(t)
				w.Telegram.OnPost, w.Telegram.OnSend = nil, nil

				// There is no further report: the next start continues from the stored state.
				w.StartsAnew(t)
				w.Settled(t)
				w.IsIn(t, inGrown, chattest.InGroup, r, held, q)
				assert.Len(t, w.Telegram.Texts(), 1)
				w.StartsAnew(t)
				w.Settled(t)
				w.IsIn(t, inGrown, chattest.InGroup, r, held, q)
				assert.Len(t, w.Telegram.Texts(), 1)
			})
		})
	}
}

// TestP8_CrashRepeatsMoveNoticeOnce, if the notice was sent but not noted.
func TestP8_CrashRepeatsMoveNoticeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r, held, q := w.SettledIn(t, chattest.InGroup)
		w.Migrates(t, chattest.Ours, chattest.Grown)
		w.Failpoint = func(name string) {
			if name == "move-told" {
				panic("killed")
			}
		}
		assert.PanicsWithValue(t, "killed", func() { _ = w.Bot.Moves.Run(t.Context()) })
		w.Failpoint = nil
		w.StartsAnew(t)
		assert.True(t, w.IsAuthorized(chattest.Alice, models.Chat{ID: chattest.Grown, Type: models.ChatTypeSupergroup}))
		w.Settled(t)
		w.IsIn(t, inGrown, chattest.InGroup, r, held, q)
		assert.Len(t, w.Telegram.Texts(), 2)
		w.StartsAnew(t)
		w.Settled(t)
		assert.Len(t, w.Telegram.Texts(), 2)
	})
}

func TestFailedMoveIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r, held, q := w.SettledIn(t, chattest.InTopic)
		w.Lifecycle.OnMove = func(uuid.UUID, session.Conversation) error { return errors.New("disk full") }
		w.Bot.Moves.TopicGone(chattest.InTopic)
		w.Settled(t)
		assert.Equal(t, chattest.InTopic, w.Record(t, r.ID).Conversation)
		stop := w.Running(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NoError(t, stop())
		w.Lifecycle.OnMove = nil
		w.Settled(t)
		w.IsIn(t, chattest.AtAlice, chattest.AtAlice, r, held, q)
		assert.Equal(t, []string{w.Word(i18n.TopicLost, i18n.Args{"Count": 1, "Names": "api"})}, w.Telegram.Texts(),
			"it is told once, however often the move fails")
	})
}

// TestP8_StartFinishesEarlierMove, without another report, and with retries.
func TestP8_StartFinishesEarlierMove(t *testing.T) {
	w := chattest.NewWorld(t)
	require.NoError(t, w.Chats.Aliases.Note(chattest.Ours, chattest.Grown))
	synctest.Test(t, func(t *testing.T) {
		w.Again()
		failed := 0
		w.Telegram.OnPost = func(outbox.Message) error {
			if failed++; failed < 3 {
				return chattest.ErrDisk
			}
			return nil
		}
		stop := w.Running(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, 3, failed)
		assert.Equal(t, inGrown, w.Telegram.Last(t).To)
		w.Bot.Moves.TopicGone(chattest.InTopic)
		synctest.Wait()
		require.NoError(t, stop())
	})
	assert.Len(t, w.Telegram.Texts(), 1)
}

func TestFinishedRequestStaysInOldChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r, _, q := w.SettledIn(t, chattest.InGroup)
		w.Writes(t, q, "", "ok", false)
		require.NoError(t, w.SessionNews(t.Context(), r, news.DialogGone{}))
		stop := w.Running(t)
		synctest.Wait()
		require.True(t, w.RequestState(t, q).HasEnded())
		w.Telegram.Edited = nil
		w.Migrates(t, chattest.Ours, chattest.Grown)
		synctest.Wait()
		require.NoError(t, stop())
		assert.Zero(t, w.Message(t, q))
		w.Restart(t)
		w.Settled(t)
		assert.Len(t, w.Telegram.Sent, 2, "nothing is shown anew")
		assert.Empty(t, w.Telegram.Edited, "and nothing is changed that is not there")
	})
}
