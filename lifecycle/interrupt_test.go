package lifecycle

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// longSaid is as many lines as the placeholder of the scripted agent has.
var longSaid = strings.TrimSpace(strings.Repeat("line\n", 31))

func interrupted(w *world, r session.Record) error {
	_, err := w.Interrupt(w.ctx, r.ID)
	return err
}

// mutes makes an agent take a text and work without output.
func mutes(a *agent) { a.status, a.mute = presence.Busy, true }

// A prompt that Esc returns before the first token is removed from the box and offered; the next is
// typed.
func TestP4_InterruptedPromptIsRemovedAndOffered(t *testing.T) {
	for name, folded := range map[string]bool{"its text": false, "a placeholder": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				a.set(func(a *agent) { a.onEnter = mutes })
				text := viewtest.Said
				if folded {
					text = longSaid
				}
				w.held(r, "k", text)
				w.pass(time.Second)
				w.hook(r, hookwire.UserPromptSubmit, prompted(text))
				require.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
				a.set(func(a *agent) { a.folded = folded })
				told, err := w.Interrupt(w.ctx, r.ID)
				require.NoError(t, err)
				assert.True(t, told)
				assert.Equal(t, 1, toldOf[news.TakenBack](w.news))
				assert.Equal(t, "k", lastOf[news.TakenBack](w.news).Prompt.Key)
				a.set(func(a *agent) { assert.Empty(t, a.box); a.onEnter, a.folded = works, false })
				w.held(r, "next", "another")
				w.pass(time.Second)
				assert.Equal(t, []string{text, "another"}, a.heard())
				assert.Zero(t, w.news.held(news.HeldDraft))
			})
		})
	}
}

// The end of a turn leaves the queue alone, also if no turn runs.
func TestP4_EndTurnKeepsQueue(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.budget(r, port.BudgetSpent)
		w.held(r, "k", viewtest.Said)
		require.ErrorIs(t, w.EndTurn(w.ctx, r.ID), typing.ErrIdle)
		assert.Equal(t, []string{"k"}, w.get(r.ID).Prompts)
		assert.Zero(t, a.escapes)
		a.set(works)
		require.NoError(t, w.EndTurn(w.ctx, r.ID))
		assert.Equal(t, 1, a.escapes)
		assert.Equal(t, []string{"k"}, w.get(r.ID).Prompts)
		assert.Equal(t, typing.Held, w.prompts.state("k"))
		w.pass(time.Second)
		w.budget(r, port.BudgetLeft)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// On a busy machine Claude Code is idle seconds before it draws the text that it puts back. Only a
// line of the transcript proves that no text will come.
func TestP4_LateReturnedTextIsRemoved(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = mutes })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		a.set(func(a *agent) { a.mute = false })
		time.AfterFunc(10*time.Second/2, func() { a.set(func(a *agent) { a.box = viewtest.Said }) })
		told, err := w.Interrupt(w.ctx, r.ID)
		require.NoError(t, err)
		assert.True(t, told)
		assert.Equal(t, 1, toldOf[news.TakenBack](w.news))
		a.set(func(a *agent) { assert.Empty(t, a.box) })
	})
}

// A busy machine may draw the effect of the clearing key late, or not take the key at all.
func TestP4_LateClearedTextDelaysNoNext(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = mutes })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		a.set(func(a *agent) { a.stuck, a.onEnter = true, works })
		_, err := w.Interrupt(w.ctx, r.ID)
		require.NoError(t, err)
		w.pass(5 * time.Second)
		a.set(func(a *agent) { a.stuck = false })
		w.held(r, "next", "another")
		w.pass(10 * time.Second)
		assert.Contains(t, a.heard(), "another")
		assert.Zero(t, toldOf[news.Held](w.news))
	})
}

// A placeholder may be a person's paste of as many lines, and another text is a person's for
// certain.
func TestP4_InterruptKeepsForeignTextInBox(t *testing.T) {
	for name, desk := range map[string]func(w *world, a *agent){
		"another text": func(_ *world, a *agent) {
			a.set(func(a *agent) { a.said[len(a.said)-1] = "a person's" })
		},
		"a placeholder beside a person": func(w *world, a *agent) {
			a.set(func(a *agent) { a.folded = true })
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Touched = w.Now() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				a.set(func(a *agent) { a.onEnter = mutes })
				w.held(r, "k", longSaid)
				w.pass(time.Second)
				w.hook(r, hookwire.UserPromptSubmit, prompted(longSaid))
				desk(w, a)
				told, err := w.Interrupt(w.ctx, r.ID)
				require.NoError(t, err)
				assert.False(t, told)
				assert.Zero(t, toldOf[news.TakenBack](w.news))
				a.set(func(a *agent) { assert.NotEmpty(t, a.box) })
				assert.Zero(t, a.cleared)
			})
		})
	}
}

// After a restart the mark says that the Esc was ccbot's own.
func TestP4_RestartRemovesInterruptedPrompt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.crash("pasted", func() { w.typeHere(r, "k", viewtest.Said) })
		p, err := w.prompts.Prompt("k")
		require.NoError(t, err)
		p.Mark.Esc, p.Mark.Enters = true, 1
		require.NoError(t, w.prompts.SavePrompt(p))
		w.comeBack()
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
		w.pass(time.Minute)
		assert.Equal(t, 1, toldOf[news.TakenBack](w.news))
		assert.Empty(t, a.heard())
		a.set(func(a *agent) { assert.Empty(t, a.box) })
	})
}

// Esc answers a dialog, opens a menu at an empty box, and opens it where two come together.
func TestP7_EscNeedsRunningTurn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		require.ErrorIs(t, interrupted(w, r), typing.ErrIdle)
		a.set(func(a *agent) { a.status, a.background = presence.Busy, true })
		require.ErrorIs(t, interrupted(w, r), typing.ErrIdle, "agents in the background go on")
		a.set(func(a *agent) { a.background, a.status, a.dialog = false, presence.Waiting, true })
		require.ErrorIs(t, interrupted(w, r), typing.ErrAsks)
		a.set(func(a *agent) { a.dialog = false; works(a) })
		assert.Zero(t, a.escapes)
		require.NoError(t, interrupted(w, r))
		a.set(works)
		first := a.escaped
		require.NoError(t, interrupted(w, r))
		assert.Equal(t, 2, a.escapes)
		assert.GreaterOrEqual(t, a.escaped.Sub(first), 2*time.Second)
		a.set(func(a *agent) { works(a); a.deaf = true })
		require.ErrorIs(t, interrupted(w, r), typing.ErrStillWorks)
	})
}

// After a limit the agent continues by itself while it is idle: a stop calls that off.
func TestStopCancelsWaitForLimit(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.continues, a.deaf = true, true })
		require.ErrorIs(t, interrupted(w, r), typing.ErrStillWorks)
		a.set(func(a *agent) { a.deaf = false })
		told, err := w.Interrupt(w.ctx, r.ID)
		require.NoError(t, err)
		assert.False(t, told, "the chat has no words for it yet")
		assert.False(t, a.continues)
		require.ErrorIs(t, interrupted(w, r), typing.ErrIdle)
		assert.Equal(t, 2, a.escapes)

		a.set(func(a *agent) { a.continues, a.deaf = true, true })
		time.AfterFunc(2*time.Second+10*time.Second/2, func() { a.set(func(a *agent) { a.continues = false }) })
		require.NoError(t, interrupted(w, r), "it draws late that it heard Esc")
	})
}

// asks is an agent that opens a dialog.
func asks(a *agent) { a.status, a.dialog = presence.Waiting, true }

// The work before Esc takes time: a dialog that opens in between is not denied.
func TestP7_NewDialogGetsNoEsc(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.deaf = true })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		w.prompts.set(func(p *promptStore) {
			p.onSave = func(q typing.Prompt) {
				if q.Mark != nil && q.Mark.Esc {
					a.set(asks)
				}
			}
		})
		require.ErrorIs(t, interrupted(w, r), typing.ErrAsks)
		assert.Zero(t, a.escapes)
		p, err := w.prompts.Prompt("k")
		require.NoError(t, err)
		assert.False(t, p.Mark.Esc, "it was not pressed")
	})
	inWorld(t, func(t *testing.T, w *world) { // the same while it is reported that the command runs
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = func(a *agent) { a.status = presence.Busy } })
		w.held(r, "k", "!make")
		w.pass(time.Second)
		a.set(func(a *agent) { a.running = "make" })
		w.news.set(func(n *heardNews) {
			n.fail = func(n news.News) error {
				if _, is := n.(news.Delivered); is {
					a.set(asks)
				}
				return nil
			}
		})
		require.ErrorIs(t, interrupted(w, r), typing.ErrAsks)
		assert.Zero(t, a.escapes)
		assert.Equal(t, 1, toldOf[news.Delivered](w.news))
	})
}

// A prompt is an interrupted one only where Esc has reached the pane, or may have.
func TestP4_UnpressedEscDoesNotCount(t *testing.T) {
	for name, tc := range map[string]struct {
		fail  error
		noted bool
	}{
		"no pane":           {tmux.ErrNoPane, false},
		"the guard refuses": {&tmux.GuardError{Want: "a", Got: "b"}, false},
		"it was not sent":   {tmux.ErrNotSent, false},
		"nobody knows":      {tmux.ErrLost, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.tells(r, a)
				a.set(func(a *agent) { a.deaf = true })
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				w.tmux.Fail("Press", tc.fail)
				require.Error(t, interrupted(w, r))
				p, err := w.prompts.Prompt("k")
				require.NoError(t, err)
				assert.Equal(t, tc.noted, p.Mark.Esc)
				a.set(func(a *agent) { a.deaf = false })
				w.pass(time.Minute)
				assert.Equal(t, tc.noted, len(a.heard()) == 0, "its lost Enter is pressed again")
			})
		})
	}
}

// The chat has words for a turn whose interrupt is in the transcript.
func TestTranscriptInterruptIsReported(t *testing.T) {
	for _, line := range []bool{true, false} {
		inWorld(t, func(t *testing.T, w *world) {
			r, a := w.started()
			w.write(r, interruptLine) // of an earlier turn
			a.set(func(a *agent) { a.onEnter = works })
			w.held(r, "k", viewtest.Said)
			w.pass(time.Second)
			w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
			if line {
				time.AfterFunc(500*time.Millisecond, func() { w.write(r, interruptLine) })
			}
			began := w.Now()
			told, err := w.Interrupt(w.ctx, r.ID)
			require.NoError(t, err)
			assert.Equal(t, line, told)
			assert.Equal(t, line, w.Now().Sub(began) < 10*time.Second/2, "only the line ends the wait for a text")
		})
	}
}

const interruptLine = `{"type":"user","uuid":"1","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`

// A custom slash command runs a turn: its text may come back late, and is offered.
func TestP4_StoppedCustomCommandIsAskedAbout(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = mutes })
		w.held(r, "k", "/review 12")
		w.pass(time.Second)
		w.write(r, `{"type":"user","timestamp":"`+w.Now().Format(time.RFC3339Nano)+`","message":{"content":"<command-name>/review</command-name>"}}`)
		w.pass(10 * time.Second)
		a.set(func(a *agent) { a.mute = false })
		time.AfterFunc(10*time.Second/2, func() { a.set(func(a *agent) { a.box = "/review 12" }) })
		told, err := w.Interrupt(w.ctx, r.ID)
		require.NoError(t, err)
		assert.True(t, told)
		assert.Equal(t, 1, toldOf[news.TakenBack](w.news))
		a.set(func(a *agent) { assert.Empty(t, a.box) })
	})
}

// A compaction and bash mode leave no line of an interrupt: a stop does not wait for one. A text
// that comes back later is removed all the same.
func TestStopOfACommandIsQuick(t *testing.T) {
	for name, text := range map[string]string{"a slash command": "/compact", "bash mode": "!make test"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				a.set(func(a *agent) { a.onEnter = works })
				if text[0] == '!' {
					a.set(func(a *agent) { a.onEnter = runsIt })
				}
				w.held(r, "k", text)
				w.pass(time.Second)
				w.write(r, `{"type":"user","timestamp":"`+w.Now().Format(time.RFC3339Nano)+`","message":{"content":"<command-name>/compact</command-name>"}}`)
				w.write(r, `{"type":"user","timestamp":"`+w.Now().Format(time.RFC3339Nano)+`","message":{"content":"<bash-input>make test</bash-input>"}}`)
				w.pass(10 * time.Second)
				require.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
				began := w.Now()
				_, err := w.Interrupt(w.ctx, r.ID)
				require.NoError(t, err)
				assert.Less(t, w.Now().Sub(began), 10*time.Second/2)
				a.set(func(a *agent) { a.box, a.shell = strings.TrimPrefix(text, "!"), text[0] == '!' })
				w.held(r, "next", "another")
				w.pass(10 * time.Second)
				assert.Equal(t, "another", a.heard()[len(a.heard())-1])
			})
		})
	}
}

// An agent that only waits for agents in the background takes a text at once.
func TestTextIsTypedDuringBackgroundAgents(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.status, a.background = presence.Busy, true })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		assert.NotEqual(t, talk.PhaseIdle, w.Observer.Inspector(w.ctx)(r).Phase, "it is not quiet")
		a.set(func(a *agent) { a.background = false })
		w.held(r, "next", "another")
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard(), "a turn runs")
	})
}

// A turn during background agents ends with Esc, for any state in the presence file: the next
// prompt does not wait for those agents.
func TestTurnWithBackgroundAgentsIsInterrupted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.status, a.background, a.beside = presence.Busy, true, true })
		_, err := w.Interrupt(w.ctx, r.ID)
		require.NoError(t, err)
		assert.Equal(t, 1, a.escapes)
		assert.Equal(t, 1, w.Observer.Inspector(w.ctx)(r).Agents, "it runs on")
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// Prompts that wait at a stop are not typed by themselves: each gets a question to the person. The
// next prompt is typed immediately.
func TestP4_StopOffersWaitingPrompts(t *testing.T) {
	tests := []struct {
		name    string
		agent   func(a *agent) // while the texts wait
		err     error          // of the stop
		asked   []string
		escapes int
	}{
		{"a turn runs", works, nil, []string{"one", "two"}, 1},
		{"a draft is in the way", func(a *agent) { a.box = "a draft" }, nil, []string{"one", "two"}, 0},
		{"Esc ends nothing", func(a *agent) { works(a); a.deaf = true }, typing.ErrStillWorks, []string{"one", "two"}, 1},
		{"a dialog is open", asks, typing.ErrAsks, nil, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				a.set(tc.agent)
				w.held(r, "one", "one")
				w.held(r, "two", "two")
				w.pass(time.Second)
				told, err := w.Interrupt(w.ctx, r.ID)
				require.ErrorIs(t, err, tc.err)
				assert.Equal(t, tc.name == "a draft is in the way", told, "the questions are all that there is to tell")
				assert.Equal(t, tc.escapes, a.escapes)
				assert.Equal(t, tc.asked, asked(w))
				a.set(func(a *agent) { a.status, a.dialog, a.deaf, a.box = presence.Idle, false, false, "" })
				w.held(r, "next", "next")
				w.pass(time.Minute)
				if tc.asked == nil {
					assert.Equal(t, "one", a.heard()[0], "nothing was stopped")
					return
				}
				assert.Equal(t, []string{"next"}, a.heard())
			})
		})
	}
}

// TestStopNamesWork offers a text that waits for a turn, which may have begun before ccbot's start.
func TestStopNamesWork(t *testing.T) {
	for name, restarts := range map[string]bool{"the same ccbot": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				a.set(func(a *agent) { a.onEnter = works })
				w.held(r, "first", "deploy")
				w.pass(time.Second)
				w.write(r, userLine("deploy"))
				w.hook(r, hookwire.UserPromptSubmit, prompted("deploy"))
				w.pass(time.Second)
				if restarts {
					w.restart()
					w.comeBack()
				}
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				require.NoError(t, interrupted(w, r))
				var work []string
				for _, h := range w.news.all() {
					if n, is := h.news.(news.TakenBack); is {
						work = append(work, n.Key+": "+n.Work)
					}
				}
				assert.Equal(t, []string{"k: deploy"}, work)
			})
		})
	}
}

// A text that must first be removed from the box, and typed again, is not typed after a stop
// either.
func TestP4_StopOffersPromptToRepeat(t *testing.T) {
	again := func(w *world, r session.Record) {
		w.prompts.put(typing.Prompt{Key: "k", Session: r.ID, Text: viewtest.Said, State: typing.Unproven})
		w.edit(r.ID, func(r *session.Record) { r.Prompts = append(r.Prompts, "k") })
		require.NoError(w.t, w.SendAgain(w.ctx, r.ID, "k"))
	}
	tests := []struct {
		name  string
		queue func(w *world, r session.Record, a *agent)
		heard []string
		asked []string
	}{
		{"sent again in a turn", func(w *world, r session.Record, a *agent) {
			a.set(works)
			again(w, r)
		}, nil, []string{"k"}},
		{"a placeholder that a turn overtook, beside a person", func(w *world, r session.Record, a *agent) {
			a.set(func(a *agent) { a.folded, a.onPaste = true, works })
			w.held(r, "k", longSaid)
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Touched = w.Now() })
			w.pass(time.Second)
			a.set(func(a *agent) { a.onPaste = nil })
		}, nil, []string{"k"}},
		{"sent again behind a prompt that is not proven", func(w *world, r session.Record, a *agent) {
			a.set(func(a *agent) { a.onEnter = works })
			w.held(r, "first", "first")
			w.pass(time.Second)
			again(w, r)
		}, []string{"first"}, []string{"k"}},
		{"sent again in a turn whose text Esc puts back", func(w *world, r session.Record, a *agent) {
			a.set(func(a *agent) { a.onEnter = mutes })
			w.held(r, "first", "first")
			w.pass(time.Second)
			w.hook(r, hookwire.UserPromptSubmit, prompted("first"))
			again(w, r)
		}, []string{"first"}, []string{"first", "k"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				tc.queue(w, r, a)
				require.Equal(t, typing.Typing, w.prompts.state("k"))
				w.pass(time.Second)
				require.NoError(t, interrupted(w, r))
				assert.Equal(t, 1, a.escapes)
				if slices.Contains(w.get(r.ID).Prompts, "first") { // an unproven prompt is not part of this test
					w.hook(r, hookwire.UserPromptSubmit, prompted("first"))
				}
				w.pass(time.Minute)
				assert.Equal(t, tc.asked, asked(w))
				assert.Equal(t, tc.heard, a.heard())
				a.set(func(a *agent) { a.folded, a.onEnter = false, nil; assert.Empty(t, a.box) })
				w.held(r, "next", "next")
				w.pass(time.Second)
				assert.Equal(t, append(tc.heard, "next"), a.heard())
			})
		})
	}
}

// asked returns the prompts of the questions at a stop.
func asked(w *world) (keys []string) {
	for _, h := range w.news.all() {
		if n, is := h.news.(news.TakenBack); is {
			keys = append(keys, n.Prompt.Key)
		}
	}
	return keys
}

// A queue that cannot be offered is reported, also without a turn.
func TestP4_UnaskedQueueIsReportedWithoutTurn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.box = "a draft" })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		full := errors.New("no space left on device")
		w.news.set(func(n *heardNews) {
			n.fail = func(n news.News) error {
				if _, is := n.(news.TakenBack); is {
					return full
				}
				return nil
			}
		})
		err := interrupted(w, r)
		require.ErrorIs(t, err, full)
		require.NotErrorIs(t, err, typing.ErrIdle)
		assert.Equal(t, []string{"k"}, w.get(r.ID).Prompts)
	})
}

// The prompts leave the queue before Esc is pressed: a kill right afterwards types none.
func TestP4_KillDuringStopTypesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(works)
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		_, err := w.Interrupt(w.ctx, r.ID)
		require.NoError(t, err)
		all := w.order.after("tell news.TakenBack")
		assert.Less(t, 0, slices.IndexFunc(all, func(s string) bool { return strings.Contains(s, "Escape") || strings.HasPrefix(s, "press") }), "%q", all)
	})
}

// A failed question keeps its text in the queue, and Esc is still pressed.
func TestP4_StopWorksWithoutQuestions(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(works)
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		full := errors.New("no space left on device")
		w.news.set(func(n *heardNews) {
			n.fail = func(n news.News) error {
				if _, is := n.(news.TakenBack); is {
					return full
				}
				return nil
			}
		})
		require.ErrorIs(t, interrupted(w, r), full)
		assert.Equal(t, 1, a.escapes)
		assert.Equal(t, []string{"k"}, w.get(r.ID).Prompts)
	})
}

// A late text, or a lost Enter, needs no end of the background agents.
func TestP4_BackgroundAgentsDelayNoProof(t *testing.T) {
	tests := []struct {
		name          string
		before, after func(a *agent)
		heard         []string
		asked         int
	}{
		{"shown late", func(a *agent) { a.slow = true }, func(a *agent) { a.slow = false }, []string{viewtest.Said, "another"}, 0},
		{"an Enter that was lost", func(a *agent) { a.deaf = true }, func(a *agent) { a.deaf = false }, []string{viewtest.Said, "another"}, 0},
		{"never shown", func(a *agent) { a.slow = true }, func(a *agent) { a.box, a.slow = "", false }, []string{"another"}, 1},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.tells(r, a)
				a.set(func(a *agent) { a.status, a.background = presence.Busy, true; tc.before(a) })
				w.held(r, "k", viewtest.Said)
				w.pass(3*time.Second + time.Second)
				require.Empty(t, a.heard())
				a.set(tc.after)
				w.held(r, "next", "another")
				w.pass(2 * typing.ProofWait)
				assert.Equal(t, tc.heard, a.heard())
				assert.Equal(t, tc.asked, toldOf[news.Unproven](w.news))
			})
		})
	}
}

// While the agent works tmux is not asked for terminals, even if prompts are searched often.
func TestWorkingAgentsTerminalIsNotRead(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = works })
		w.held(r, "k", viewtest.Said)
		w.pass(5 * time.Second)
		require.Equal(t, typing.Typing, w.prompts.state("k"))
		before := w.tmux.looks()
		w.pass(time.Minute)
		assert.Equal(t, before, w.tmux.looks())
	})
}

// A text that ends Claude Code is delivered when it has ended, and the end names the person.
func TestP4_ExitWordIsReasonOfEnd(t *testing.T) {
	for _, text := range []string{"exit", "quit", " :wq ", "/exit", "said"} {
		t.Run(text, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				a.set(func(a *agent) { a.onEnter = works })
				w.held(r, "k", text)
				w.pass(time.Second)
				w.tmux.die(a, tmuxtest.Exit{})
				w.pass(10 * time.Second)
				asked := text != "said"
				assert.Equal(t, asked, lastOf[news.Ended](w.news).ByPerson)
				assert.Equal(t, asked, toldOf[news.Unproven](w.news) == 0)
			})
		})
	}
}
