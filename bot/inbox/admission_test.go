package inbox

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
)

// TestP9_UpdatesAreCheckedOnce: by its kind, sender and chat. News that the bot was added
// belongs to its sender.
func TestP9_UpdatesAreCheckedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
		var refused []string
		r.intake.cfg.IsAuthorized = func(kind string, person int64, chat models.Chat, _ json.RawMessage) (bool, error) {
			if person == 77 && chat.Type == models.ChatTypePrivate {
				return true, nil
			}
			refused = append(refused, fmt.Sprint(kind, " ", person, " ", chat.ID))
			return false, nil
		}
		tg.deliver(message(1, 5, "hello"),
			`{"update_id":2,"message":{"message_id":4,"from":{"id":77},"chat":{"id":-9,"type":"group"},"text":"x"}}`,
			`{"update_id":3,"callback_query":{"id":"q","from":{"id":13},"message":{"message_id":4,"chat":{"id":-9,"type":"group"}},"data":"d"}}`,
			`{"update_id":4,"my_chat_member":{"from":{"id":13},"chat":{"id":-9,"type":"group"},"date":1,"old_chat_member":{"status":"left","user":{"id":9}},"new_chat_member":{"status":"member","user":{"id":9}}}}`,
			`{"update_id":5,"my_chat_member":{"from":{"id":77},"chat":{"id":-9,"type":"group"},"date":1,"old_chat_member":{"status":"left","user":{"id":9}},"new_chat_member":{"status":"member","user":{"id":9}}}}`)
		stop := r.start(t)
		time.Sleep(5 * time.Minute) // fake
		stop()
		assert.Equal(t, []string{"message 77 -9", "callback_query 13 -9", "my_chat_member 13 13"}, refused)
		assert.ElementsMatch(t, []string{"1", "5"}, j.keys(), "the news of an allowed person is handled")
	})
}
