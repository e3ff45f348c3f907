package inbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/alias"
)

// TestP4_GroupMoveCountsFromStrangers: news of the move is accepted from people who may not
// speak, in the old chat and in the new one. News of another group leaves no trace.
func TestP4_GroupMoveCountsFromStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
		r.intake.cfg.IsAuthorized = func(string, int64, models.Chat, json.RawMessage) (bool, error) { return false, nil }
		var asked []string
		r.intake.cfg.Moves = func(from, to int64) (bool, error) {
			asked = append(asked, fmt.Sprint(from, " ", to))
			return from == -5, nil
		}
		tg.deliver(
			`{"update_id":1,"message":{"message_id":4,"from":{"id":77},"chat":{"id":-5,"type":"group"},"migrate_to_chat_id":-1005}}`,
			`{"update_id":2,"message":{"message_id":1,"from":{"id":77},"chat":{"id":-1005,"type":"supergroup"},"migrate_from_chat_id":-5}}`,
			`{"update_id":3,"message":{"message_id":4,"from":{"id":77},"chat":{"id":-6,"type":"group"},"migrate_to_chat_id":-1006}}`,
			`{"update_id":4,"edited_message":{"message_id":4,"from":{"id":77},"chat":{"id":-5,"type":"group"},"migrate_to_chat_id":-1005}}`,
			message(5, -5, "hello"))
		stop := r.start(t)
		time.Sleep(time.Minute)
		stop()
		assert.ElementsMatch(t, []string{"1", "2"}, j.keys(), "two chats, so either may come first")
		assert.Equal(t, []string{"-5 -1005", "-5 -1005", "-6 -1006"}, asked)
		assert.Empty(t, tg.unconfirmed())
	})
}

// TestP4_NewChatWaitsForItsMove: while the disk refuses the news that a group has become another
// chat, later updates are not skipped. Then both chats are one place.
func TestP4_NewChatWaitsForItsMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
		var table alias.Table
		r.store.Inside = table.In
		r.intake.cfg.IsAuthorized = func(_ string, _ int64, chat models.Chat, _ json.RawMessage) (bool, error) { return chat.ID == -5, nil }
		tries := 0
		r.intake.cfg.Moves = func(from, to int64) (bool, error) {
			if tries++; tries < 4 {
				return true, errors.New("disk full")
			}
			return true, table.Note(from, to)
		}
		tg.deliver(
			`{"update_id":1,"message":{"message_id":4,"from":{"id":77},"chat":{"id":-5,"type":"group"},"migrate_to_chat_id":-1005}}`,
			message(2, -1005, "hello"))
		stop := r.start(t)
		time.Sleep(time.Minute)
		tg.deliver(message(3, -1005, "in the new chat"), message(4, -5, "in the old chat, late"))
		time.Sleep(time.Minute)
		stop()
		assert.Empty(t, tg.unconfirmed())
		assert.GreaterOrEqual(t, tries, 4)
		assert.Contains(t, j.keys(), "1")
		for _, key := range []string{"2", "3", "4"} {
			assert.Contains(t, j.keys(), key)
		}
	})
}

func TestEntryHasInsideNumbers(t *testing.T) {
	store, err := OpenStore(filepath.Join(t.TempDir(), "inbox"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	var table alias.Table
	require.NoError(t, table.Note(-5, -1005))
	store.Inside = table.In
	for i, chat := range []int64{-5, -1005, 7} {
		key := UpdateKey(int64(i))
		_, err := store.Accept(key, json.RawMessage(message(int64(i), chat, "x")))
		require.NoError(t, err)
		e, err := store.Load(key)
		require.NoError(t, err)
		place, inside := table.In(chat, glance(e.Update).message)
		assert.Equal(t, place, e.ChatID)
		assert.Equal(t, inside, e.MessageID)
	}
}
