package bot

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

func TestP9_StrangersAreMentionedOnceAnHour(t *testing.T) {
	at := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	var s strangers
	var lines []string
	for _, minutes := range []int{0, 1, 59, 60, 61, 30 /* the clock was set back */, 119, 120, 600} {
		if n, say := s.came(at.Add(time.Duration(minutes) * time.Minute)); say {
			lines = append(lines, fmt.Sprintf("at %d: %d", minutes, n))
		}
	}
	assert.Equal(t, []string{"at 0: 1", "at 60: 3", "at 120: 4", "at 600: 1"}, lines)
}

// TestP9_AFloodOfStrangersIsOneLine: all of them together, at debug, whatever they
// send and wherever.
func TestP9_AFloodOfStrangersIsOneLine(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		w := newWorld(t)
		var log strings.Builder
		w.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))
		for n := range int64(10_000) {
			assert.False(t, w.Hears(1000+n, privateChat(1000+n)))
			assert.False(t, w.Hears(alice, groupChat(-1000-n)))
		}
		assert.True(t, w.Hears(alice, privateChat(alice)))
		want := 0
		if level == slog.LevelDebug {
			want = 1
		}
		assert.Equal(t, want, strings.Count(log.String(), "\n"), log.String())
		w.later(time.Hour)
		w.Hears(eve, privateChat(eve))
		assert.Equal(t, 2*want, strings.Count(log.String(), "\n"))
		assert.Equal(t, want, strings.Count(log.String(), "updates=20000"))
	}
}

// TestP9_NothingOfAStrangerIsHeard: all that a person can send, from a stranger, in
// private, in an allowed group and elsewhere; and from an allowed person in a group
// that is not listed. No answer, no reaction, no file asked for, no end of a tap's
// waiting, nothing on disk.
func TestP9_NothingOfAStrangerIsHeard(t *testing.T) {
	for _, tt := range whoAndWhere {
		if tt.heard {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: tt.chat.ID}, r.ID))
			before, err := os.ReadDir(w.dir)
			require.NoError(t, err)
			from := &models.User{ID: tt.from}
			kinds := []models.Message{{Text: "/kill api"}, {Text: "a prompt"}, {Text: "!id"}, {Caption: "x", Photo: []models.PhotoSize{{FileID: "f"}}},
				{Document: &models.Document{FileID: "f", FileName: "a"}}, {Voice: &models.Voice{FileID: "f"}}, {Video: &models.Video{FileID: "f"}},
				{MediaGroupID: "1", Photo: []models.PhotoSize{{FileID: "f"}}}, {Sticker: &models.Sticker{FileID: "f"}}, {Location: &models.Location{}},
				{Text: "reply", ReplyToMessage: &models.Message{ID: 3}}, {NewChatMembers: []models.User{*from}}, {MigrateToChatID: -9}}
			for n := range kinds {
				m := kinds[n]
				m.ID, m.From, m.Chat = 10+n, from, tt.chat
				require.NoError(t, w.Handle(t.Context(), inbox.UpdateKey(int64(n)), &models.Update{Message: &m}))
				edited := m
				require.NoError(t, w.Handle(t.Context(), inbox.UpdateKey(int64(100+n)), &models.Update{EditedMessage: &edited}))
			}
			require.NoError(t, w.Handle(t.Context(), "1", tapOn(tt.from, &models.Message{ID: 5, Chat: tt.chat}, "cur:"+ref(r.ID))))
			old := &models.InaccessibleMessage{Chat: tt.chat, MessageID: 5}
			require.NoError(t, w.Handle(t.Context(), "1", &models.Update{CallbackQuery: &models.CallbackQuery{ID: "q", From: *from,
				Message: models.MaybeInaccessibleMessage{InaccessibleMessage: old}}}))
			f := inbox.Failure{From: tt.from, Conversation: session.Conversation{ChatID: tt.chat.ID}, Tap: true, Late: true, Err: errors.New("late"),
				Update: tapOn(tt.from, &models.Message{Chat: tt.chat}, "x")}
			require.NoError(t, w.UpdateFailed(t.Context(), f))
			w.silent(t)
			after, err := os.ReadDir(w.dir)
			require.NoError(t, err)
			assert.Len(t, after, len(before))
		})
	}
}

func TestATapOfLongAgoIsTold(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.UpdateFailed(t.Context(), inbox.Failure{From: alice, Conversation: atAlice, Tap: true, Late: true, Err: errors.New("late"),
		Update: tapOn(alice, &models.Message{}, "x")}))
	assert.Equal(t, []string{"answer query: " + w.word(i18n.TapLate)}, w.sender.done())
	for _, lang := range i18n.Languages() {
		assert.LessOrEqual(t, plain(w.Words.For(lang).Say(i18n.TapLate)).Length(), alertLimit, lang)
	}
}
