package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/try/botapi"
)

// TestP4_DeniedCallsPass: the Bot API returns 401 and 404 for a while. The bot stays, reports it,
// and then handles the messages of that time; no answer is lost.
func TestP4_DeniedCallsPass(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	for _, method := range []string{"getUpdates", "sendMessage"} {
		for _, code := range []int{http.StatusUnauthorized, http.StatusNotFound} {
			w.api.Fault(botapi.Fault{Method: method, Kind: botapi.FaultStatus, Status: code, Description: http.StatusText(code)})
		}
	}
	w.hear(w.say("say one"), "one")

	var withdraw []func()
	for _, method := range []string{"getUpdates", "getMe", "sendMessage"} {
		withdraw = append(withdraw, w.api.Fault(botapi.Fault{Method: method, Kind: botapi.FaultUnauthorized, Times: -1}))
	}
	id, term := w.say("say two"), w.newTerminal()
	w.until("the verb shows it", func() bool {
		return strings.Contains(term.says("ccbot status work"), "Telegram says that it does not know the token of this bot")
	})
	for _, undo := range withdraw {
		undo()
	}
	w.hear(id, "two")
	assert.False(t, w.bot.over())
	w.stop()
}
