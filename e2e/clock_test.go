package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/try/botapi"
)

// behind is a Telegram whose clock is three hours behind this machine's.
func behind(undated bool) botapi.Options {
	return botapi.Options{Undated: undated, Now: func() time.Time { return time.Now().Add(-3 * time.Hour) }}
}

// TestP4_ClockAheadOfTelegramsAsksNothing: with this machine's clock three hours ahead a text is typed and a /stop stops,
// and the clock is reported once, also after a restart of the bot with a text that waited.
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

// TestP4_UndatedAnswersAreComparedWithThisClock: without a date of Telegram's answers a text that looks old is asked about.
func TestP4_UndatedAnswersAreComparedWithThisClock(t *testing.T) {
	t.Parallel()
	w := newWorldAt(t, behind(true))
	w.start()
	w.open("work", w.dir)
	w.tap(w.offered(w.say("say late"), "Discard"), "Send")
	w.until("it is typed", func() bool { return len(w.received()) == 1 })
	assert.Zero(t, w.heard("ahead of Telegram's"))
	w.stop()
}
