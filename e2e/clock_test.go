package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/try/botapi"
)

// behind returns a Telegram whose clock is three hours slow.
func behind(undated bool) botapi.Options {
	return botapi.Options{Undated: undated, Now: func() time.Time { return time.Now().Add(-3 * time.Hour) }}
}

// TestP4_ClockAheadOfTelegramsAsksNothing: with this machine's clock three hours fast, a text is
// typed and /stop works. The clock is reported once, also after a restart with a waiting text.
func TestP4_ClockAheadOfTelegramsAsksNothing(t *testing.T) {
	t.Parallel()
	w := newWorldAt(t, behind(false))
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say on time"), "on time")
	w.hear(0, "clock is 3 h ahead of Telegram's")
	w.say("slow 3600")
	w.until("it works", func() bool { return len(w.received()) == 2 })
	w.hear(w.say("/stop"), "is interrupted")
	w.hear(w.say("say once more"), "once more")
	assert.Equal(t, 1, w.heard("ahead of Telegram's"))
	w.stop()
	assert.Contains(t, w.bot.log.String(), "msg=clock_differs")
}

// TestP4_UndatedAnswersUseLocalClock: if Telegram's answers have no date, an old text is confirmed.
func TestP4_UndatedAnswersUseLocalClock(t *testing.T) {
	t.Parallel()
	w := newWorldAt(t, behind(true))
	w.start()
	w.open("work", w.dir)
	w.tap(w.offered(w.say("say late"), "Discard"), "Send")
	w.until("it is typed", func() bool { return len(w.received()) == 1 })
	assert.Zero(t, w.heard("ahead of Telegram's"))
	w.stop()
}
