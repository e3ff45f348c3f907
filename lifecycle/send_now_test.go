package lifecycle

import (
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/hooks"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/tmux"
)

// waiting is a session whose agent works, with a queue.
func waiting(w *world, keys ...string) (session.Record, *agent) {
	w.t.Helper()
	r, a := w.started()
	a.set(func(a *agent) { works(a); a.onEnter = works })
	for _, key := range keys {
		w.held(r, key, key)
	}
	w.pass(time.Second)
	return r, a
}

// ends proves the last text that the agent was given, and ends its turn.
func (w *world) ends(r session.Record, a *agent) {
	w.t.Helper()
	if all := a.heard(); len(all) > 0 {
		w.hook(r, hookwire.UserPromptSubmit, prompted(all[len(all)-1]))
	}
	a.set(func(a *agent) { a.status = presence.Idle })
	w.WakeAgent(a.id.PID)
	w.pass(time.Second)
}

func sendNow(w *world, r session.Record, key string) error {
	_, err := w.SendNow(w.ctx, r.ID, key)
	return err
}

func TestP4_SendNowKeepsOrderOfOthers(t *testing.T) {
	for _, key := range []string{"one", "two", "three"} {
		t.Run(key, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := waiting(w, "one", "two", "three")
				want := []string{key}
				for _, other := range []string{"one", "two", "three"} {
					if other != key {
						want = append(want, other)
					}
				}
				told, err := w.SendNow(w.ctx, r.ID, key)
				require.NoError(t, err)
				assert.False(t, told, "the chat has no words for what was stopped")
				w.pass(time.Second)
				assert.Equal(t, 1, a.escapes)
				assert.Equal(t, want[:1], a.heard())
				for range 3 {
					w.ends(r, a)
				}
				assert.Equal(t, want, a.heard())
				assert.Empty(t, asked(w), "nothing of the queue is asked about")
				assert.Empty(t, w.get(r.ID).Prompts)
			})
		})
	}
}

// The order is on disk before Esc.
func TestP4_OrderIsOnDiskBeforeEsc(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := waiting(w, "one", "two")
		w.order.onPoint(func(name string) {
			if name == "queue-ordered" {
				assert.Zero(t, a.escapes)
				assert.Equal(t, []string{"two", "one"}, w.get(r.ID).Prompts)
			}
		})
		require.NoError(t, sendNow(w, r, "two"))
		assert.Contains(t, w.order.all(), "at queue-ordered")
	})
}

// The text that Esc returns is offered, and the other one is typed alone.
func TestP4_StoppedPromptIsOfferedOtherTyped(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = mutes })
		w.held(r, "stopped", "stopped")
		w.pass(time.Second)
		w.hook(r, hookwire.UserPromptSubmit, prompted("stopped"))
		w.held(r, "urgent", "urgent")
		w.pass(time.Second)
		told, err := w.SendNow(w.ctx, r.ID, "urgent")
		require.NoError(t, err)
		assert.True(t, told)
		assert.Equal(t, []string{"stopped"}, asked(w))
		w.pass(time.Second)
		assert.Equal(t, []string{"stopped", "urgent"}, a.heard())
	})
}

// A prompt whose Enter was pressed and that is not proven is the one that is stopped.
func TestP4_PromptBeingTypedIsOffered(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = mutes })
		w.held(r, "typed", "typed")
		w.held(r, "urgent", "urgent")
		w.pass(time.Second)
		require.Equal(t, typing.Typing, w.prompts.state("typed"))
		require.ErrorIs(t, sendNow(w, r, "typed"), fs.ErrNotExist, "it is being sent")
		require.ErrorIs(t, w.ToFront(w.ctx, r.ID, "typed"), fs.ErrNotExist)
		assert.Zero(t, a.escapes)
		require.NoError(t, sendNow(w, r, "urgent"))
		assert.Equal(t, []string{"typed"}, asked(w))
		w.pass(time.Second)
		assert.Equal(t, []string{"typed", "urgent"}, a.heard())
	})
}

// A text that was overtaken by a turn before its Enter is not sent, and follows the other one.
func TestP4_OvertakenPromptIsTypedAfterwards(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onPaste, a.onEnter = works, works })
		w.held(r, "pasted", "pasted")
		w.pass(time.Second)
		p, err := w.prompts.Prompt("pasted")
		require.NoError(t, err)
		require.True(t, p.Mark != nil && p.Mark.Retreat)
		a.set(func(a *agent) { a.onPaste = nil })
		w.held(r, "urgent", "urgent")
		require.NoError(t, sendNow(w, r, "urgent"))
		w.pass(time.Second)
		assert.Equal(t, []string{"urgent"}, a.heard())
		w.ends(r, a)
		assert.Equal(t, []string{"urgent", "pasted"}, a.heard())
		assert.Empty(t, asked(w))
	})
}

// If no turn runs no key is pressed: the next prompt is typed immediately.
func TestP7_IdleSendNowPressesNoEsc(t *testing.T) {
	for name, idle := range map[string]func(a *agent){
		"idle":                     func(a *agent) { a.status = presence.Idle },
		"agents in the background": func(a *agent) { a.background = true },
		"after a limit, idle":      func(a *agent) { a.status, a.continues = presence.Idle, true },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := waiting(w, "one", "two")
				a.set(idle)
				told, err := w.SendNow(w.ctx, r.ID, "two")
				require.NoError(t, err)
				assert.True(t, told, "nothing was interrupted")
				w.pass(time.Second)
				assert.Zero(t, a.escapes)
				assert.Equal(t, []string{"two"}, a.heard())
			})
		})
	}
}

// The turn ends between the check and the key.
func TestP7_EndedTurnGetsNoEsc(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := waiting(w, "one", "two")
		w.order.onPoint(func(name string) {
			if name == "queue-ordered" {
				a.set(func(a *agent) { a.status = presence.Idle })
			}
		})
		told, err := w.SendNow(w.ctx, r.ID, "two")
		require.NoError(t, err)
		assert.True(t, told)
		w.pass(time.Second)
		assert.Zero(t, a.escapes)
		assert.Equal(t, []string{"two"}, a.heard())
	})
}

// Requests that fail and are made again are a turn.
func TestSendNowEndsARetry(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := waiting(w, "one")
		a.set(func(a *agent) { a.retry = "529 Overloaded · Retrying in 30s · attempt 4/10" })
		require.NoError(t, sendNow(w, r, "one"))
		w.pass(time.Second)
		assert.Equal(t, 1, a.escapes)
		assert.Equal(t, []string{"one"}, a.heard())
	})
}

// If Esc would answer a dialog, or the prompt could not be typed, nothing changes.
func TestP7_RefusedSendNowChangesNothing(t *testing.T) {
	tests := []struct {
		name  string
		agent func(w *world, r session.Record, a *agent)
		err   error
	}{
		{"a dialog is open", func(_ *world, _ session.Record, a *agent) { a.set(asks) }, typing.ErrAsks},
		{"a request waits whose dialog is not drawn", func(w *world, r session.Record, _ *agent) { w.relays.ask(r) }, typing.ErrAsks},
		{"a subagent asks", func(w *world, r session.Record, _ *agent) {
			w.relays.add(hooks.Request{ID: uuid.NewString(), Session: r.ID, Agent: r.Binding.Agent.Text(), RequestedAt: time.Now(),
				SubagentID: "a1", Tool: "Bash"})
		}, typing.ErrAsks},
		{"a draft in the box of an agent that works", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.box = "a draft" })
		}, typing.ErrBoxBusy},
		{"a draft in the box of an idle agent", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.box, a.status = "a draft", presence.Idle })
		}, typing.ErrBoxBusy},
		{"bash mode", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.shell = true }) }, typing.ErrBoxBusy},
		{"the pane is another's", func(w *world, _ session.Record, a *agent) {
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.PID = 4242 })
		}, view.ErrNoAgent},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := waiting(w, "one", "two")
				tc.agent(w, r, a)
				require.ErrorIs(t, sendNow(w, r, "two"), tc.err)
				assert.Zero(t, a.escapes)
				assert.Equal(t, []string{"one", "two"}, w.get(r.ID).Prompts)
				assert.Empty(t, a.heard())
			})
		})
	}
}

// A dialog that opens while the order is written is not answered by Esc. The prompt is the next one
// then.
func TestP7_SendNowSparesNewDialog(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := waiting(w, "one", "two")
		w.order.onPoint(func(name string) {
			if name == "queue-ordered" {
				a.set(asks)
			}
		})
		require.ErrorIs(t, sendNow(w, r, "two"), typing.ErrAsks)
		assert.Zero(t, a.escapes)
		a.set(func(a *agent) { a.dialog = false })
		w.ends(r, a)
		assert.Equal(t, []string{"two"}, a.heard())
	})
}

func TestSendNowReportsWorkingAgent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := waiting(w, "one", "two")
		a.set(func(a *agent) { a.deaf = true })
		require.ErrorIs(t, sendNow(w, r, "two"), typing.ErrStillWorks)
		assert.Equal(t, 1, a.escapes)
		a.set(func(a *agent) { a.deaf = false })
		w.ends(r, a)
		assert.Equal(t, []string{"two"}, a.heard(), "it is the next one")
	})
}

// Two people tap at once: one Esc, and the text once.
func TestP4_ConcurrentSendNowSendsOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := waiting(w, "one", "two")
		var both sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			both.Go(func() { errs[i] = sendNow(w, r, "two") })
		}
		both.Wait()
		w.pass(time.Second)
		for _, err := range errs {
			if err != nil {
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
		}
		assert.Equal(t, 1, a.escapes)
		assert.Equal(t, []string{"two"}, a.heard())
		w.ends(r, a)
		assert.Equal(t, []string{"two", "one"}, a.heard())
	})
}

func TestReorderingNeedsWaitingPrompt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := waiting(w, "one")
		w.prompts.put(typing.Prompt{Key: "other", Text: viewtest.Said, State: typing.Held})
		require.ErrorIs(t, sendNow(w, r, "other"), fs.ErrNotExist, "it is in no queue")
		require.ErrorIs(t, w.ToFront(w.ctx, r.ID, "other"), fs.ErrNotExist)
		require.ErrorIs(t, sendNow(w, r, "none"), fs.ErrNotExist)
		assert.Zero(t, a.escapes)
		w.archive(r)
		require.ErrorIs(t, sendNow(w, r, "one"), view.ErrNoAgent)
		require.NoError(t, w.ToFront(w.ctx, r.ID, "one"), "it waits for the session to come back")
	})
}

func TestP4_ToFrontFollowsPromptBeingTyped(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = works })
		for _, key := range []string{"one", "two", "three"} {
			w.held(r, key, key)
			w.pass(time.Second)
		}
		told := toldOf[news.Requeued](w.news)
		require.NoError(t, w.ToFront(w.ctx, r.ID, "three"))
		assert.Greater(t, toldOf[news.Requeued](w.news), told)
		assert.Equal(t, []string{"one", "three", "two"}, w.get(r.ID).Prompts)
		for range 3 {
			w.ends(r, a)
		}
		assert.Equal(t, []string{"one", "three", "two"}, a.heard())
		assert.Zero(t, a.escapes)
	})
}

// A kill between two steps loses nothing, and repeats nothing.
func TestP4_KillDuringSendNowRepeatsNothing(t *testing.T) {
	for _, point := range []string{"queue-ordered", "turn-interrupted", "typing-marked", "pasted", "entered"} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := waiting(w, "one", "two")
				w.crash(point, func() {
					_, _ = w.SendNow(w.ctx, r.ID, "two")
					_, _ = w.step(w.ctx, r.ID)
				})
				w.comeBack()
				require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"one", "two"}))
				for range 3 {
					w.pass(time.Minute)
					w.ends(r, a)
				}
				assert.Equal(t, []string{"two", "one"}, a.heard())
				assert.LessOrEqual(t, a.escapes, 1)
				assert.Empty(t, w.get(r.ID).Prompts)
			})
		})
	}
}

// A queue without a working report is still changed.
func TestUnreportedQueueIsChanged(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := waiting(w, "one", "two")
		w.news.set(func(n *heardNews) {
			n.fail = func(n news.News) error {
				if _, is := n.(news.Requeued); is {
					return errUnreadable
				}
				return nil
			}
		})
		require.NoError(t, w.ToFront(w.ctx, r.ID, "two"))
		assert.Equal(t, []string{"two", "one"}, w.get(r.ID).Prompts)
		assert.True(t, strings.Contains(w.logged(), "queue_not_told"))
	})
}
