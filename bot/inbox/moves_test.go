package inbox

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
)

// TestP4_OurGroupMayMoveWhoeverCausesIt: that it has become another chat is heard from
// people who may not speak, in the old chat and in the new one. That of another
// group leaves no trace.
func TestP4_OurGroupMayMoveWhoeverCausesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
		r.intake.hears = func(int64, models.Chat) bool { return false }
		var asked []string
		r.intake.moves = func(from, to int64) bool {
			asked = append(asked, fmt.Sprint(from, " ", to))
			return from == -5
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
		assert.Equal(t, []string{"1", "2"}, j.keys())
		assert.Equal(t, []string{"-5 -1005", "-5 -1005", "-6 -1006"}, asked)
		assert.Empty(t, tg.unconfirmed())
	})
}
