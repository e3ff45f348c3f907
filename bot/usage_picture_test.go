package bot_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/port/talk"
)

// uploadHangs is a sender that never sends a file.
type uploadHangs struct{ *chattest.FakeSender }

func (uploadHangs) SendFile(ctx context.Context, _ outbox.File) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// A picture of the costs that cannot be sent is given up: later taps on the page, and later
// messages to the chat, do not wait for ever.
func TestUnsentPictureIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Spent.Answer(func(context.Context) (talk.Report, error) { return used(), nil })
		w.Chat.Sender = uploadHangs{w.Telegram}
		w.MustHear(t, "/usage")
		w.Press(t, chattest.Alice, w.Telegram.LastID(), w.Word(i18n.ButtonPicture))
		assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.InternalError))
	})
}
