package lifecycle

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

func TestInterrupt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		assert.ErrorIs(t, interrupted(w, r), typing.ErrIdle)
		assert.Zero(t, a.escapes)
		a.set(works)
		assert.NoError(t, interrupted(w, r))
		assert.Equal(t, 1, a.escapes)
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.PID = 4242 })
		assert.ErrorIs(t, interrupted(w, r), view.ErrNoAgent)
		assert.Equal(t, 1, a.escapes)
	})
}

func TestSendAgainAndDrop(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.held(r, "again", "one")
		w.held(r, "drop", "two")
		assert.Error(t, w.SendAgain(w.ctx, r.ID, "again"), "nothing to decide yet")
		w.pass(2 * time.Minute)
		require.Equal(t, []string{"one", "two"}, a.heard())
		require.NoError(t, w.Drop(w.ctx, r.ID, "drop"))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("drop"))
		require.NoError(t, w.SendAgain(w.ctx, r.ID, "again"))
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"one", "two", "one"}, a.heard())
		assert.Error(t, w.Drop(w.ctx, r.ID, "again"), "it is being typed")
	})
}

// A decision at the end of a session must not use an older line.
func TestP4_FirstSendingProvesNoSendAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.write(r, userLine(viewtest.Said))     // the person said it long ago
		a.set(func(a *agent) { a.deaf = true }) // before there is anything to type
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		require.Equal(t, typing.Unproven, w.prompts.state("k"))
		a.set(func(a *agent) { a.deaf = false })
		require.NoError(t, w.SendAgain(w.ctx, r.ID, "k"))
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"})) // a crash right after
		w.pass(10 * time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard(), "it is taken out of the box, and typed once")
	})
}

func TestQueueRefusesWhatIsOver(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		assert.ErrorIs(t, w.Queue(w.ctx, r.ID, "k"), view.ErrNoAgent)
		assert.Empty(t, w.get(r.ID).Prompts)
	})
}

func TestQueueTakesAKeyOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(works)
		w.held(r, "k", viewtest.Said)
		require.NoError(t, w.Queue(w.ctx, r.ID, "k"))
		assert.Equal(t, []string{"k"}, w.get(r.ID).Prompts)
	})
}

// A guard that stays false (another program in the foreground) must not cost two
// writes to disk every 150 ms.
func TestFalseGuardDoesNotSpin(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Command = "bash" })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Less(t, len(w.prompts.saved), 100)
	})
}

// The mark has the position in the transcript from which proof counts: text before the launch is
// not proof, even if no hook has reported the path yet.
func TestP4_MarkFollowsEarlierText(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		old := w.archived()
		w.write(old, userLine(viewtest.Said))
		size := int64(0)
		if info, err := os.Stat(w.transcript(old.AgentSessionID)); assert.NoError(t, err) {
			size = info.Size()
		}
		require.NoError(t, w.Store.Do(w.ctx, old.ID, func(r *session.Record, save func() error) error {
			r.Cursors = nil // as of a session whose hooks never reported
			return save()
		}))
		r, err := w.restoreIt(old.ID)
		require.NoError(t, err)
		w.pass(2 * presenceGrace)
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		require.NotEqual(t, typing.PromptState("finished"), w.prompts.state("k"), "proven by what was said before")
		p, err := w.prompts.Prompt("k")
		require.NoError(t, err)
		require.NotNil(t, p.Mark)
		assert.Equal(t, size, p.Mark.Offset)
	})
}

func TestP4_WithdrawTakesAHeldPromptOnly(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.asks(askBash("touch x"))
		w.held(r, "k", viewtest.Said)
		w.held(r, "next", "another")
		w.pass(time.Minute)
		require.NoError(t, w.Withdraw(w.ctx, r.ID, "k", 9))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
		assert.Equal(t, []string{"next"}, w.get(r.ID).Prompts)
		require.ErrorIs(t, w.Withdraw(w.ctx, r.ID, "k", 9), fs.ErrNotExist, "it is gone")
		a.set(func(a *agent) { a.close() })
		w.Wake(r.ID)
		w.pass(time.Second)
		assert.Equal(t, []string{"another"}, a.heard())
		require.ErrorIs(t, w.Withdraw(w.ctx, r.ID, "next", 9), fs.ErrNotExist, "it is being typed")
		assert.Equal(t, typing.Typing, w.prompts.state("next"))

		w.prompts.put(typing.Prompt{Key: "other", Text: viewtest.Said, State: typing.Held})
		require.ErrorIs(t, w.Withdraw(w.ctx, r.ID, "other", 9), fs.ErrNotExist, "it is another session's")
		assert.Equal(t, typing.Held, w.prompts.state("other"))
	})
}

func TestP4_RewordChangesAHeldPromptOnly(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(works)
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		require.NoError(t, w.Reword(w.ctx, r.ID, "k", 9, "!ls", talk.ClassBash))
		p, err := w.prompts.Prompt("k")
		require.NoError(t, err)
		assert.Equal(t, []any{"!ls", talk.ClassBash, typing.Held, []news.Wait{news.Queued}}, []any{p.Text, p.Class, p.State, p.Reported})
		a.set(func(a *agent) { a.status = presence.Idle })
		w.WakeAgent(a.id.PID)
		w.pass(time.Second)
		assert.Equal(t, []string{"ls"}, a.heard())
		require.ErrorIs(t, w.Reword(w.ctx, r.ID, "k", 9, "late", talk.ClassPlain), fs.ErrNotExist, "it is being typed")
		w.pass(time.Minute)
		require.Equal(t, typing.Unproven, w.prompts.state("k"))
		require.ErrorIs(t, w.Reword(w.ctx, r.ID, "k", 9, "late", talk.ClassPlain), fs.ErrNotExist, "a person is asked about it")
		require.NoError(t, w.Drop(w.ctx, r.ID, "k"))
		require.ErrorIs(t, w.Reword(w.ctx, r.ID, "k", 9, "late", talk.ClassPlain), fs.ErrNotExist, "it is finished")
		assert.Equal(t, []string{"ls"}, a.heard())
	})
}

// A prompt that waits for a session to come back can be changed in between.
func TestP4_RewordReachesEndedSessionsPrompt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.write(r, userLine("hello"))
		a.set(works)
		w.held(r, "k", viewtest.Said)
		w.archive(r)
		require.NoError(t, w.Reword(w.ctx, r.ID, "k", 9, "another text", talk.ClassPlain))
		back, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		w.report(back)
		w.pass(time.Minute)
		assert.Equal(t, []string{"another text"}, w.tmux.agentOf(w.get(r.ID)).heard())
	})
}

// A prompt outside the queue, offered to a person, is not typed, and the following one is.
func TestP4_OfferedPromptLeavesQueue(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.status, a.onEnter = presence.Busy, works })
		for _, key := range []string{"one", "old", "two"} {
			w.held(r, key, key)
		}
		w.restart()
		asked, err := w.prompts.Prompt("old")
		require.NoError(t, err)
		require.NoError(t, w.prompts.FinishPrompt("old")) // the state of an offered prompt
		require.NoError(t, w.Reattach(r.ID))
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"one", "two"}))
		assert.Equal(t, []string{"one", "two"}, w.get(r.ID).Prompts)
		w.run()
		for range 2 {
			a.set(func(a *agent) { a.status = presence.Idle })
			w.WakeAgent(a.id.PID)
			w.pass(time.Second)
			w.hook(r, hookwire.UserPromptSubmit, prompted(a.heard()[len(a.heard())-1]))
		}
		w.prompts.put(asked) // the person says yes
		require.NoError(t, w.Queue(w.ctx, r.ID, "old"))
		a.set(func(a *agent) { a.status = presence.Idle })
		w.WakeAgent(a.id.PID)
		w.pass(time.Second)
		assert.Equal(t, []string{"one", "two", "old"}, a.heard())
	})
}

// A crash, or a full disk, between record and prompt leaves a key in the queue for a prompt that is
// not held: it is not typed before it is queued again, and then once.
func TestP4_UnheldPromptIsNotTyped(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: accepted})
		w.prompts.set(func(p *promptStore) { p.unheld, p.fail = errors.New("disk full"), errors.New("disk full") })
		require.Error(t, w.Queue(w.ctx, r.ID, "k"))
		w.restart()
		require.NoError(t, w.Reattach(r.ID))
		w.run()
		w.pass(time.Minute)
		assert.Empty(t, a.heard())
		w.prompts.set(func(p *promptStore) { p.unheld, p.fail = nil, nil })
		a.set(func(a *agent) { a.status = presence.Busy })
		for range 2 { // before it can be typed
			require.NoError(t, w.Queue(w.ctx, r.ID, "k"))
		}
		a.set(func(a *agent) { a.status = presence.Idle })
		w.WakeAgent(a.id.PID)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		require.ErrorIs(t, w.Queue(w.ctx, r.ID, "k"), fs.ErrNotExist, "it is typed")
	})
}

// A prompt that one session failed to hold may go to another session at the next try.
func TestP4_PromptIsTypedByOneSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		one, a := w.started()
		w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: accepted})
		w.edit(one.ID, func(r *session.Record) { r.Prompts = []string{"k"} }) // the crash came before it was held
		two, b := w.started()
		require.NoError(t, w.Queue(w.ctx, two.ID, "k"))
		w.Wake(one.ID)
		w.pass(time.Minute)
		assert.Empty(t, a.heard())
		assert.Equal(t, []string{viewtest.Said}, b.heard())
		assert.Empty(t, w.get(one.ID).Prompts)
	})
}

// A prompt for an idle agent costs the engine one write before the keys, the prompt with its mark,
// and one reading; one more write and two more readings up to Enter. The record is saved when the
// prompt leaves the queue.
func TestP4_IdleAgentGetsPromptImmediately(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.restart() // nothing steps
		w.running.Store(true)
		w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: accepted})
		looked := w.tmux.called("Capture")
		require.NoError(t, w.Queue(w.ctx, r.ID, "k"))
		assert.Equal(t, 3, w.tmux.called("Capture")-looked)
		assert.Equal(t, []string{"save k typing", "at typing-marked", "paste " + viewtest.Said, "at pasted",
			"save k typing", "enter", "at entered", "tell news.Typed", "tell news.Requeued"}, w.order.after("save k typing")[:9])
		disk, err := os.ReadFile(filepath.Join(w.base, "state", "sessions", r.ID.String()+".json"))
		require.NoError(t, err)
		assert.NotContains(t, string(disk), `"prompts"`)
		assert.Equal(t, r.ID, w.prompts.owner("k"))
		w.run()
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

func TestP4_DelayedPromptIsHeld(t *testing.T) {
	tests := []struct {
		name string
		when func(w *world, r session.Record, a *agent)
	}{
		{"a turn runs", func(_ *world, _ session.Record, a *agent) { a.set(works) }},
		{"another prompt waits", func(w *world, r session.Record, _ *agent) { w.held(r, "first", "first") }},
		{"the pane is not the agent's", func(w *world, _ session.Record, a *agent) {
			w.tmux.Fail("Paste", &tmux.GuardError{Pane: a.pane, Want: "a", Got: "b"})
		}},
		{"nobody would take up the proof", func(w *world, _ session.Record, _ *agent) { w.running.Store(false) }},
		{"tmux is not there", func(w *world, _ session.Record, _ *agent) { w.tmux.Fail("Server", tmux.ErrNotSent) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.restart() // nothing steps
				w.running.Store(true)
				w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: accepted})
				tt.when(w, r, a)
				require.NoError(t, w.Queue(w.ctx, r.ID, "k"))
				assert.Equal(t, typing.Held, w.prompts.state("k"))
				assert.Empty(t, a.heard())
			})
		})
	}
}

// For any outcome of the paste the prompt's mark has the state, and the prompt is not queued again.
func TestP4_UnknownPasteKeepsMark(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.restart()
		w.running.Store(true)
		w.tmux.Fail("Paste", tmux.ErrLost)
		w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: accepted})
		require.NoError(t, w.Queue(w.ctx, r.ID, "k"))
		assert.Equal(t, typing.Typing, w.prompts.state("k"))
		require.ErrorIs(t, w.Queue(w.ctx, r.ID, "k"), fs.ErrNotExist)
	})
}

// A reading that fails because ccbot is being stopped proves nothing, and is not reported.
func TestP6_InterruptedStepDecidesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.restart() // nothing steps
		w.held(r, "k", viewtest.Said)
		ctx, stop := context.WithCancel(w.ctx)
		w.tmux.Fail("Server", tmux.ErrLost)
		w.core.Observer.Now = func() time.Time { stop(); return time.Now() } // each check begins with it
		_, err := w.step(ctx, r.ID)
		assert.Zero(t, w.news.held(news.HeldUnknown))
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// A prompt that cannot be read holds up no proof of another one.
func TestP4_UnreadablePromptHidesNoProof(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.prompts.put(typing.Prompt{Key: "bad", Text: "bad", State: typing.Held})
		require.NoError(t, w.prompts.HoldPrompt("bad", r.ID))
		w.prompts.set(func(p *promptStore) { p.unreadable = "bad" })
		w.edit(r.ID, func(r *session.Record) { r.Prompts = []string{"bad"} })
		w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: accepted})
		require.NoError(t, w.Queue(w.ctx, r.ID, "k"))
		w.pass(time.Second)
		require.Equal(t, []string{viewtest.Said}, a.heard())
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
	})
}

// A prompt waits for a higher cap, whether it is typed at once or by a step.
func TestP7_PromptWaitsForHigherCap(t *testing.T) {
	for _, at := range []string{"at once", "by a step"} {
		t.Run(at, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.budget(r, port.BudgetSpent)
				if at == "at once" {
					w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: typing.Held})
					require.NoError(t, w.Queue(w.ctx, r.ID, "k"))
				} else {
					w.held(r, "k", viewtest.Said)
				}
				w.pass(time.Minute)
				assert.Empty(t, a.heard())
				assert.Equal(t, typing.Held, w.prompts.state("k"))
				assert.Equal(t, 1, w.news.held(news.HeldBudget), "it is reported once")
				w.budget(r, port.BudgetLeft)
				w.pass(time.Minute)
				assert.Equal(t, []string{viewtest.Said}, a.heard())
			})
		})
	}
}

// TestP4_BudgetIsForOneTurn: a prompt uses up what is left, and the next one waits until the chat
// knows the cost of the turn.
func TestP4_BudgetIsForOneTurn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.budget(r, port.BudgetLeft)
		before := w.get(r.ID).Budget
		w.held(r, "k", viewtest.Said)
		w.pass(2 * time.Second)
		require.Equal(t, []string{viewtest.Said}, a.heard())
		assert.Equal(t, before.Next(), w.get(r.ID).Budget)
		require.ErrorIs(t, w.SetBudget(w.ctx, r.ID, before), ErrChanged, "of the turn before")
		left := port.Budget{State: port.BudgetLeft, Turn: before.Turn + 1}
		require.ErrorIs(t, w.SetBudget(w.ctx, r.ID, left), ErrChanged, "the turn runs")
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		w.hook(r, hookwire.Stop, func(*hookwire.Event) {})
		w.held(r, "next", "two")
		w.pass(costsNotice / 2)
		assert.Zero(t, w.news.held(news.HeldCosts))
		w.pass(time.Minute)
		assert.Equal(t, 1, w.news.held(news.HeldCosts))
		assert.Len(t, a.heard(), 1)
		w.budget(r, port.BudgetLeft)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said, "two"}, a.heard())
	})
}
