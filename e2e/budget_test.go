package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestP4_PromptWaitsForBudget: the first answer costs more than the budget of the day. The next
// prompt waits, also over a kill, until a person raises the budget; then it is typed once.
func TestP4_PromptWaitsForBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "CCBOT_BUDGET_DAY=0.000001")
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
	w := newWorld(t, "CCBOT_BUDGET_DAY=0.000001")
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
