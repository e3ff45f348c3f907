package inbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
)

// TestP4_OtherBotsUpdateLeavesNoTrace: the update is not stored or handled, and is confirmed. A
// tap is for the bot that gets it.
func TestP4_OtherBotsUpdateLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "inbox")
		tg, j := newTelegram(), &journal{}
		r := newRig(t, dir, tg, j)
		r.intake.cfg.IsAuthorized = func(kind string, _ int64, _ models.Chat, update json.RawMessage) (bool, error) {
			return kind == models.AllowedUpdateCallbackQuery || !bytes.Contains(update, []byte("theirs")), nil
		}
		stop := r.start(t)
		tg.deliver(message(1, 5, "theirs"), message(2, 5, "mine"), tap(4, 5, 1, "theirs"))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"2", "4"}, slices.Sorted(slices.Values(j.keys())))
		assert.Empty(t, tg.unconfirmed())
		assert.Equal(t, []string{"2.done"}, files(t, dir))
		stop()
	})
}

// TestP4_UndecidedUpdateComesAgain: a pick is on disk before Telegram may forget it.
func TestP4_UndecidedUpdateComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
		var room atomic.Bool
		r.intake.cfg.IsAuthorized = func(string, int64, models.Chat, json.RawMessage) (bool, error) {
			if !room.Load() {
				return true, errors.New("no space left on device")
			}
			return true, nil
		}
		stop := r.start(t)
		tg.deliver(message(1, 5, "a"), message(2, 5, "b"))
		time.Sleep(time.Minute)
		assert.Equal(t, []int64{1, 2}, tg.unconfirmed())
		assert.Empty(t, j.keys())
		room.Store(true)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"1", "2"}, j.keys())
		stop()
	})
}
