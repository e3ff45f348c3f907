package e2e

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// atNoon is a time zone in which it is noon now, for what counts by the day: the test may run at
// midnight. The zone is a file, because a machine may have no time zones.
func atNoon(t *testing.T) string {
	t.Helper()
	offset := (12 - time.Now().UTC().Hour()) * 60 * 60
	zone := append([]byte("TZif"), make([]byte, 16)...)
	for _, count := range []uint32{0, 0, 0, 0, 1, 4} { // no change of the offset, one offset, four letters
		zone = binary.BigEndian.AppendUint32(zone, count)
	}
	zone = binary.BigEndian.AppendUint32(zone, uint32(int32(offset)))
	zone = append(zone, "\x00\x00NOW\x00"...)
	in, err := time.LoadLocationFromTZData("noon", zone)
	require.NoError(t, err)
	require.InDelta(t, 12, time.Now().In(in).Hour(), 1)
	file := filepath.Join(t.TempDir(), "noon")
	require.NoError(t, os.WriteFile(file, zone, 0o600))
	return "TZ=" + file
}

// TestP4_PromptWaitsForBudget: the first answer costs more than the budget of the day. The next
// prompt waits, also over a kill, until a person raises the budget; then it is typed once.
func TestP4_PromptWaitsForBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "CCBOT_BUDGET_DAY=0.000001", atNoon(t))
	w.start()
	w.open("work", w.dir)
	first := w.say("say one")
	w.hear(first, "one")
	reached := w.hear(first, "Budget of this machine today")
	next := w.say("say two")
	w.hear(next, "The budget of work is used up")
	w.kill9()
	w.start()
	w.hear(w.say("/status"), "work")
	assert.Equal(t, []string{"say one"}, w.received())
	w.tap(reached, "+$5")
	w.until("it is typed", func() bool { return len(w.received()) == 2 })
	w.hear(first, "Raised by $5.")
	w.stop()
	assert.Equal(t, []string{"say one", "say two"}, w.received())
}

// TestP4_PromptOnAnotherMachineWaitsForBudget: the machine types nothing that its chat has not
// compared with the budget.
func TestP4_PromptOnAnotherMachineWaitsForBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "CCBOT_BUDGET_DAY=0.000001", atNoon(t))
	w.start()
	there, _ := w.withMachine("B")
	w.reached("B")
	w.hear(w.say("/new work B:"+there.dir), "work is ready")
	first := w.say("say one")
	w.hear(first, "one")
	reached := w.hear(first, "Budget of this machine today")
	w.hear(w.say("say two"), "The budget of B:work is used up")
	assert.Equal(t, []string{"say one"}, there.received())
	w.tap(reached, "+$5")
	w.until("it is typed", func() bool { return len(there.received()) == 2 })
	w.stop()
	assert.Equal(t, []string{"say one", "say two"}, there.received())
}
