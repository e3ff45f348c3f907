package lifecycle

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
)

// callee is an agent that takes texts by a call.
type callee struct {
	order *order

	mu      sync.Mutex
	texts   []string
	ids     []uuid.UUID
	to      []coding.Recipient
	forgets bool  // it notes no id
	refuses error // of each call
	answers error // of each call that it takes
	unread  error // of each search for a receipt
}

func (c *callee) Deliver(_ context.Context, to coding.Recipient, id uuid.UUID, text string) error {
	c.order.at("call-begun")
	c.order.add("call %s", text)
	c.mu.Lock()
	refuses, answers := c.refuses, c.answers
	if refuses == nil {
		c.texts, c.ids, c.to = append(c.texts, text), append(c.ids, id), append(c.to, to)
	}
	c.mu.Unlock()
	if refuses != nil {
		return refuses
	}
	c.order.at("call-accepted")
	return answers
}

func (c *callee) HasReceipt(_ uuid.UUID, of coding.Sent) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.forgets && slices.Contains(c.ids, of.ID), c.unread
}

func (c *callee) set(change func(c *callee)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

func (c *callee) received() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.texts)
}

// inCalledWorld is inWorld with an agent that takes texts by a call.
func inCalledWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	base := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, base)
		w.calls = &callee{order: w.order}
		w.restart()
		w.run()
		test(t, w)
	})
}

func TestP4_TextIsDeliveredByOneCall(t *testing.T) {
	inCalledWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.box = "a person's draft" })
		w.held(r, "k", viewtest.Said)
		w.pass(3 * time.Second)
		assert.Equal(t, []string{viewtest.Said}, w.calls.received())
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"), "its receipt proves it")
		assert.Empty(t, w.get(r.ID).Prompts)
		assert.Zero(t, a.inputs, "no key is pressed, and the draft stays")
		assert.Equal(t, []coding.Recipient{{PID: a.id.PID, ProcStart: a.id.Start, Conversation: r.AgentSessionID}}, w.calls.to)
		order := w.order.all()
		assert.Less(t, slices.Index(order, "save k typing"), slices.Index(order, "call "+viewtest.Said), "P4: the mark comes first")
		assert.Equal(t, 1, toldOf[news.Typed](w.news))
		assert.Equal(t, 1, toldOf[news.Delivered](w.news))
		assert.Zero(t, toldOf[news.Held](w.news))
	})
}

// After a crash at any step the agent has the text once, or the person is asked, also if the prompt
// had used up what the budget had left.
func TestP4_CrashAtEachStepOfCall(t *testing.T) {
	for point, want := range map[string]struct {
		times int
		asked bool
	}{
		"typing-marked":   {1, false},
		"call-begun":      {0, true},
		"call-accepted":   {1, false},
		"entered":         {1, false},
		"prompt-finished": {1, false},
	} {
		t.Run(point, func(t *testing.T) {
			inCalledWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				w.budget(r, port.BudgetLeft)
				w.crash(point, func() {
					w.typeHere(r, "k", viewtest.Said)
					_, _ = w.core.step(w.ctx, r.ID)
				})
				w.comeBack()
				require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
				w.pass(2 * typing.ProofWait)
				assert.Len(t, w.calls.received(), want.times)
				assert.Equal(t, want.asked, toldOf[news.Unproven](w.news) > 0)
				if want.asked {
					assert.Equal(t, typing.Unproven, w.prompts.state("k"))
				} else {
					assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
				}
			})
		})
	}
}

// Without a receipt the person decides, and a text that is sent again has another id.
func TestP4_CallWithoutReceiptIsAskedAbout(t *testing.T) {
	for name, change := range map[string]func(c *callee){
		"no receipt":          func(c *callee) { c.forgets = true },
		"unreadable receipts": func(c *callee) { c.unread = assert.AnError },
		"the call failed":     func(c *callee) { c.forgets, c.answers = true, errors.New("no answer") },
	} {
		t.Run(name, func(t *testing.T) {
			inCalledWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.calls.set(change)
				w.held(r, "k", viewtest.Said)
				w.pass(2 * typing.ProofWait)
				assert.Len(t, w.calls.received(), 1, "P4: never twice by itself")
				assert.Equal(t, typing.Unproven, w.prompts.state("k"))
				assert.Equal(t, 1, toldOf[news.Unproven](w.news))

				w.calls.set(func(c *callee) { c.forgets, c.unread, c.answers = false, nil, nil })
				a.set(func(a *agent) { a.box = viewtest.Said })
				require.NoError(t, w.SendAgain(w.ctx, r.ID, "k"))
				w.pass(3 * time.Second)
				assert.Len(t, w.calls.received(), 2)
				assert.NotEqual(t, w.calls.ids[0], w.calls.ids[1])
				assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
				assert.Zero(t, a.inputs, "the text in the box is a person's")
			})
		})
	}
}

// An abandoned text leaves the box alone.
func TestP7_DropLeavesBoxOfCalledAgent(t *testing.T) {
	inCalledWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.calls.set(func(c *callee) { c.forgets = true })
		w.held(r, "k", viewtest.Said)
		w.pass(2 * typing.ProofWait)
		a.set(func(a *agent) { a.box = viewtest.Said })
		require.NoError(t, w.Drop(w.ctx, r.ID, "k"))
		w.pass(time.Minute)
		assert.Zero(t, a.inputs)
		assert.Len(t, w.calls.received(), 1)
	})
}

// A text that the agent does not take stays held, and is delivered later.
func TestP4_RefusedCallStaysHeld(t *testing.T) {
	inCalledWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.budget(r, port.BudgetLeft)
		w.calls.set(func(c *callee) { c.refuses = coding.ErrNotDelivered })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Equal(t, typing.Held, w.prompts.state("k"))
		assert.Equal(t, port.BudgetLeft, w.get(r.ID).Budget.State, "nothing was spent")
		w.pass(time.Minute)
		assert.NotZero(t, toldOf[news.Held](w.news), "the person learns of the wait")
		w.calls.set(func(c *callee) { c.refuses = nil })
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, w.calls.received())
		assert.Zero(t, toldOf[news.Unproven](w.news))
	})
}

// Of two processes the server gets the call, and only while the other one is at the terminal.
func TestP7_ServerIsCalled(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		w.calls = &callee{order: w.order}
		w.restart()
		w.run()
		r, a := w.started()
		w.held(r, "1", viewtest.Said)
		w.pass(3 * time.Second)
		assert.Equal(t, []coding.Recipient{{PID: a.server.PID, ProcStart: a.server.Start, Conversation: r.AgentSessionID}}, w.calls.to)
		w.processes.Change(a.id.PID, func(p *process.Process) { p.Foreground = p.PID + 5 })
		w.held(r, "2", "not now")
		w.pass(time.Minute)
		assert.Len(t, w.calls.received(), 1)
	})
}

// A prompt without its mark is a file that was edited: the person decides.
func TestP4_CallWithoutMarkIsAskedAbout(t *testing.T) {
	inCalledWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, State: typing.Typing})
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
		w.pass(time.Minute)
		assert.Equal(t, typing.Unproven, w.prompts.state("k"))
		assert.Empty(t, w.calls.received())
	})
}

// A receipt proves a text also when the session has ended.
func TestP4_ReceiptCountsAfterEnd(t *testing.T) {
	for name, forgets := range map[string]bool{"with a receipt": false, "without a receipt": true} {
		t.Run(name, func(t *testing.T) {
			inCalledWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				w.calls.set(func(c *callee) { c.forgets, c.answers = true, errors.New("no answer") })
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				w.calls.set(func(c *callee) { c.forgets = forgets })
				w.archive(r)
				assert.Equal(t, session.Archived, w.get(r.ID).State)
				assert.Equal(t, forgets, toldOf[news.Unproven](w.news) > 0)
			})
		})
	}
}

// A turn may ask in the chat before its receipt is seen. The receipt counts while the dialog is
// open, and a text without one is not asked about before it has closed.
func TestP4_ReceiptCountsUnderDialog(t *testing.T) {
	for name, forgets := range map[string]bool{"with a receipt": false, "without a receipt": true} {
		t.Run(name, func(t *testing.T) {
			inCalledWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.calls.set(func(c *callee) { c.forgets = true })
				w.order.onPoint(func(name string) {
					if name == "call-accepted" {
						a.set(func(a *agent) { a.dialog, a.status = true, presence.Waiting })
						w.relays.ask(r)
					}
				})
				w.held(r, "k", viewtest.Said)
				w.pass(3 * time.Second)
				assert.Equal(t, typing.Typing, w.prompts.state("k"))
				w.calls.set(func(c *callee) { c.forgets = forgets })
				w.pass(10 * time.Second)
				if !forgets {
					assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
					assert.Empty(t, w.get(r.ID).Prompts)
				}
				w.pass(typing.ProofWait)
				assert.Zero(t, toldOf[news.Unproven](w.news))
			})
		})
	}
}

func TestP7_NothingIsDeliveredUnlessIdle(t *testing.T) {
	for name, change := range map[string]func(w *world, a *agent){
		"a turn runs":      func(_ *world, a *agent) { a.set(func(a *agent) { a.status = presence.Busy }) },
		"a dialog is open": func(_ *world, a *agent) { a.set(func(a *agent) { a.dialog, a.status = true, presence.Waiting }) },
		"a dialog is drawn": func(_ *world, a *agent) {
			a.set(func(a *agent) { a.dialog = true })
		},
		"it is unknown whether it lives": func(w *world, a *agent) {
			w.processes.Hide(a.id.PID, assert.AnError)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inCalledWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				change(w, a)
				w.held(r, "k", viewtest.Said)
				w.pass(time.Minute)
				assert.Empty(t, w.calls.received())
				assert.Zero(t, a.inputs)
				assert.Equal(t, typing.Held, w.prompts.state("k"))
			})
		})
	}
	inCalledWorld(t, func(t *testing.T, w *world) { // a dialog opens between the look and the call
		r, a := w.started()
		w.order.onPoint(func(name string) {
			if name == "typing-marked" {
				a.set(func(a *agent) { a.dialog, a.status = true, presence.Waiting })
			}
		})
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Empty(t, w.calls.received())
		assert.Equal(t, typing.Held, w.prompts.state("k"))
	})
}
