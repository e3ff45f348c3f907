package lifecycle

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/hooks"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func works(a *agent) { a.status = presence.Busy }

func TestP4_PromptIsTypedOnceUntilProof(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = works })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		assert.Equal(t, typing.Typing, w.prompts.state("k"), "typed is not received")

		w.hook(r, hookwire.UserPromptSubmit, prompted("\n<pasted_content>\n"+viewtest.Said+"\n</pasted_content>"))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
		assert.Empty(t, w.get(r.ID).Prompts)
		assert.Equal(t, 1, toldOf[news.Delivered](w.news))
		w.pass(time.Hour)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		assert.Zero(t, toldOf[news.Unproven](w.news))
	})
}

// The mark is on disk before the paste; the Enter is counted on disk before it is pressed; the
// prompt is reported and finished only after the proof.
func TestP4_MarkIsOnDiskBeforePaste(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = works })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		assert.Equal(t, []string{"save k typing", "at typing-marked", "paste " + viewtest.Said, "at pasted", "save k typing", "enter", "at entered", "tell news.Typed",
			"tell news.Doing", "tell news.Delivered", "finish k", "at prompt-finished", "at name-saved", "tell news.Renamed", "tell news.Requeued",
			"at window-named"}, w.order.after("save k typing"))
		marks := w.prompts.saved
		require.Len(t, marks, 2)
		assert.Equal(t, 0, marks[0].Mark.Enters)
		assert.Equal(t, 1, marks[1].Mark.Enters)
		assert.False(t, marks[0].Mark.At.IsZero())
	})
}

func TestP4_UnsavedMarkTypesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.prompts.fail = errors.New("disk full")
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Empty(t, w.tmux.Inputs(a.pane))
		w.prompts.mu.Lock()
		w.prompts.fail = nil
		w.prompts.mu.Unlock()
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

func TestPromptsAreTypedInOrder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = works })
		for _, text := range []string{"one", "two", "three"} {
			w.held(r, "k-"+text, text)
		}
		for i, text := range []string{"one", "two", "three"} {
			w.pass(10 * time.Second)
			require.Len(t, a.heard(), i+1)
			assert.Equal(t, text, a.heard()[i])
			w.hook(r, hookwire.UserPromptSubmit, prompted(text))
			w.pass(10 * time.Second)
			require.Len(t, a.heard(), i+1, "nothing is typed while the agent works")
			a.set(func(a *agent) { a.status = presence.Idle })
			w.WakeAgent(a.id.PID)
		}
		assert.Equal(t, 2, w.news.held(news.Queued), "what waited long was told so")
	})
}

func TestEmptyBoxProvesSlashCommand(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.held(r, "k", "/status")
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"/status"}, a.heard())
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
		assert.Zero(t, toldOf[news.Unproven](w.news))
	})
}

// Bash mode fires no hook; its line in the transcript is the proof.
func TestP4_TranscriptProvesBashMode(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) {
			a.onEnter = func(*agent) { w.write(r, userLine("<bash-input>ls -l</bash-input>")) }
		})
		w.held(r, "k", "!ls -l")
		w.pass(time.Minute)
		assert.Equal(t, []string{"ls -l"}, a.heard())
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
		assert.Zero(t, toldOf[news.Unproven](w.news))
	})
}

// A hook event may be lost (the disk was full, the hook was killed): the transcript is read before
// the person is asked.
func TestP4_TranscriptIsReadBeforeQuestion(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) {
			a.onEnter = func(a *agent) { w.write(r, userLine(viewtest.Said)) }
		})
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
		assert.Zero(t, toldOf[news.Unproven](w.news))
	})
}

func TestP4_WithoutProofThePersonDecides(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.held(r, "k", viewtest.Said)
		w.held(r, "next", "another")
		w.pass(time.Hour)
		assert.Equal(t, typing.Unproven, w.prompts.state("k"))
		assert.Equal(t, []string{viewtest.Said, "another"}, a.heard(), "each is typed once, the second does not wait for the person")
		assert.Equal(t, 2, toldOf[news.Unproven](w.news), "and each is told once")
	})
}

func TestP4_LateProofFinishesUnprovenPrompt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		require.Equal(t, typing.Unproven, w.prompts.state("k"))
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
	})
}

// The proof belongs to the prompt being typed, not to an older prompt with the same words that
// waits for a decision.
func TestP4_ProofIsForPromptBeingTyped(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.held(r, "old", "continue")
		w.pass(time.Minute)
		require.Equal(t, typing.Unproven, w.prompts.state("old"))
		w.held(r, "new", "continue")
		w.pass(time.Second)
		require.Equal(t, typing.Typing, w.prompts.state("new"))
		w.hook(r, hookwire.UserPromptSubmit, prompted("continue"))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("new"))
	})
}

func TestP4_ProofIsLaterAndHasText(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said), func(e *hookwire.Event) { e.Received = e.Received.Add(-time.Hour) })
		assert.Equal(t, typing.Typing, w.prompts.state("k"), "an event of before")
		w.hook(r, hookwire.UserPromptSubmit, prompted("please fix the buildings"))
		assert.Equal(t, typing.Typing, w.prompts.state("k"), "another text")
		w.hook(r, hookwire.UserPromptSubmit, prompted("please  fix\nthe build"))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
	})
}

func TestP7_GuardRefusesPaste(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Fail("Paste", &tmux.GuardError{Pane: a.pane, Want: "a", Got: "b"})
		w.held(r, "k", viewtest.Said)
		w.pass(20 * time.Millisecond)
		assert.Equal(t, typing.Held, w.prompts.state("k"))
		p, err := w.prompts.Prompt("k")
		require.NoError(t, err)
		assert.Nil(t, p.Mark)
		w.Wake(r.ID)
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// Claude Code starts its own program again when it changes its renderer: the process stays, and tmux shows another name. A program that
// only has that process behind it gets no text.
func TestAgentThatStartedItselfAgainGetsText(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Command = "claude.exe" })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Empty(t, a.heard(), "the bound process does not have that name")
		w.processes.Change(a.id.PID, func(p *process.Process) { p.Args = []string{"/opt/agent/claude.exe", "--permission-mode", "default"} })
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		assert.Equal(t, "claude.exe", w.get(r.ID).Binding.Command)
	})
}

// No event reports that a guard would succeed again: the session must poll.
func TestP4_RefusedPasteIsRetried(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Fail("Paste", &tmux.GuardError{Pane: a.pane, Want: "a", Got: "b"})
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// It is unknown whether a paste happened. The empty box of an idle agent shows that it did not: it
// is pasted again, and if that also vanishes, the person is asked.
func TestP4_UnknownPasteRepeatsAtMostOnce(t *testing.T) {
	for _, fails := range []int{1, 2} {
		inWorld(t, func(t *testing.T, w *world) {
			r, a := w.started()
			w.tells(r, a)
			for range fails {
				w.tmux.Fail("Paste", tmux.ErrLost)
			}
			w.held(r, "k", viewtest.Said)
			w.pass(time.Hour)
			pastes := slices.DeleteFunc(w.order.all(), func(s string) bool { return !strings.HasPrefix(s, "paste") })
			assert.Len(t, pastes, 2)
			if fails == 1 {
				assert.Equal(t, []string{viewtest.Said}, a.heard())
				assert.Zero(t, toldOf[news.Unproven](w.news))
				return
			}
			assert.Equal(t, typing.Unproven, w.prompts.state("k"))
			assert.Equal(t, 1, toldOf[news.Unproven](w.news))
			assert.Empty(t, a.heard())
		})
	}
}

// A paste that was certainly not sent needs no person.
func TestP4_UnsentPasteStaysHeld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Fail("Paste", tmux.ErrNotSent)
		w.held(r, "k", viewtest.Said)
		w.pass(time.Hour)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// A person who scrolls right before the paste gets one request: to stop that.
func TestScrolledWindowRefusesPaste(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.order.onPoint(func(name string) {
			if name == "typing-marked" {
				w.tmux.Change(a.pane, func(p *tmux.Pane) { p.InMode = true })
			}
		})
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, 1, w.news.held(news.HeldScroll))
		assert.Zero(t, w.news.held(news.HeldUnknown))
		assert.Equal(t, typing.Held, w.prompts.state("k"))
	})
}

func TestP7_DialogBeforeEnterGetsNoEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) {
			a.onPaste = func(a *agent) { a.dialog, a.status, a.onPaste = true, presence.Waiting, nil }
		})
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Zero(t, a.chosen, "Enter went into a dialog")
		assert.Empty(t, a.heard())
		p, err := w.prompts.Prompt("k")
		require.NoError(t, err)
		assert.True(t, p.Mark.Retreat)
		assert.Equal(t, 1, toldOf[news.Dialog](w.news))

		a.set(func(a *agent) { a.dialog, a.status = false, presence.Idle })
		w.WakeAgent(a.id.PID)
		w.pass(10 * time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard(), "cleared, typed again, once")
		assert.Zero(t, a.chosen)
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
	})
}

func TestP7_TurnBeforeEnterGetsNoEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onPaste = func(a *agent) { a.status, a.onPaste = presence.Busy, nil } })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Empty(t, a.heard())
		a.set(func(a *agent) { a.status = presence.Idle })
		w.WakeAgent(a.id.PID)
		w.pass(10 * time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// A paste that a turn has overtaken is taken back in the next pause, also when that has ended too
// soon.
func TestP4_TurnDuringTakeBackAsksNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) {
			a.onPaste = func(a *agent) { a.status, a.onPaste = presence.Busy, nil }
			a.onClear = func(a *agent) { a.status, a.onClear = presence.Busy, nil }
		})
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		for range 2 {
			a.set(func(a *agent) { a.status = presence.Idle })
			w.WakeAgent(a.id.PID)
			w.pass(10 * time.Second)
		}
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		assert.Zero(t, toldOf[news.Unproven](w.news))
	})
}

// The person in the terminal was faster: the text in the box is theirs.
func TestP7_ForeignDraftGetsNoEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onPaste = func(a *agent) { a.box = "rm everything? let me think" } })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Empty(t, a.heard())
	})
}

// A prompt overtaken by a dialog waits for it, like the following ones; an entered one has caused
// it.
func TestPromptsAwaitingDialogAreReported(t *testing.T) {
	asks := func(a *agent) { a.dialog, a.status = true, presence.Waiting }
	below := func(a *agent) { a.status = presence.Busy }
	tests := []struct {
		name  string
		agent func(a *agent)
		told  []string
	}{
		{"a dialog before Enter", func(a *agent) { a.onPaste = asks }, []string{"k", "two"}},
		{"a dialog after Enter", func(a *agent) { a.onEnter = asks }, []string{"two"}},
		{"a subagent before Enter", func(a *agent) { a.onPaste = below }, []string{"k", "two"}},
		{"a subagent after Enter", func(a *agent) { a.onEnter = below }, []string{"two"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				a.set(tc.agent)
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				w.held(r, "two", "second")
				if !a.dialog {
					w.relays.add(hooks.Request{ID: uuid.NewString(), Session: r.ID, Agent: a.id.Text(), Tool: "Bash", SubagentID: "a1", RequestedAt: time.Now()})
					w.Wake(r.ID)
				}
				w.pass(10 * time.Second)
				require.Equal(t, typing.Typing, w.prompts.state("k"))
				var told []string
				for _, h := range w.news.all() {
					if n, is := h.news.(news.Held); is && n.Why == news.HeldDialog {
						told = append(told, n.Prompt.Key)
					}
				}
				assert.Equal(t, tc.told, told)
			})
		})
	}
}

func TestP7_DialogGetsNoText(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.dialog, a.status = true, presence.Waiting })
		w.held(r, "k", viewtest.Said)
		w.pass(10 * time.Minute)
		assert.Empty(t, w.tmux.Inputs(a.pane))
		assert.Equal(t, 1, w.news.held(news.HeldDialog))
		assert.Equal(t, 1, toldOf[news.Dialog](w.news))
		assert.Equal(t, typing.Held, w.prompts.state("k"))
	})
}

func TestP7_DraftPreventsTyping(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.box = "mine" })
		w.held(r, "k", viewtest.Said)
		w.pass(10 * time.Minute)
		assert.Empty(t, w.tmux.Inputs(a.pane))
		assert.Equal(t, 1, w.news.held(news.HeldDraft))
		a.set(func(a *agent) { a.box = "" })
		w.pass(10 * time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// Forbidden states of the pane, seen by tmux or by the kernel.
func TestP7_OnlyAgentGetsText(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, a *agent)
	}{
		{"a shell in the foreground", func(w *world, a *agent) { w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Command = "bash" }) }},
		{"another process in the pane", func(w *world, a *agent) { w.tmux.Change(a.pane, func(p *tmux.Pane) { p.PID = 4242 }) }},
		{"scrolling", func(w *world, a *agent) { w.tmux.Change(a.pane, func(p *tmux.Pane) { p.InMode = true }) }},
		{"synchronised panes", func(w *world, a *agent) { w.tmux.Synchronize(a.pane) }},
		{"a new server with the same ids", func(w *world, a *agent) {
			w.tmux.StopServer()
			_ = w.tmux.Ensure(w.ctx)
			for range 3 {
				w.tmux.AddWindow("ccbot", "mine")
			}
		}},
		{"an unreadable presence file", func(_ *world, a *agent) { a.set(func(a *agent) { a.unreadable = presence.ErrTorn }) }},
		{"no screen", func(w *world, _ *agent) {
			for range 10_000 {
				w.tmux.Fail("Capture", tmux.ErrLost)
			}
		}},
		{"a dead pane", func(w *world, a *agent) { w.tmux.End(a.pane, tmuxtest.Exit{}) }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				pane := a.pane
				tc.spoil(w, a)
				w.held(r, "k", viewtest.Said)
				w.WakeAll()
				w.pass(time.Minute)
				assert.Empty(t, w.tmux.Inputs(pane))
				assert.Empty(t, a.heard())
				assert.NotEqual(t, typing.PromptState("finished"), w.prompts.state("k"))
			})
		})
	}
}

func TestLostEnterIsPressedAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.deaf = true })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		a.set(func(a *agent) { a.deaf = false })
		w.pass(10 * time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

func TestP4_EnterIsPressedAtMostThrice(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.deaf = true })
		w.held(r, "k", viewtest.Said)
		w.Wake(r.ID)
		w.pass(time.Hour)
		enters := slices.DeleteFunc(w.order.all(), func(s string) bool { return s != "enter" })
		assert.Len(t, enters, 3)
		assert.Equal(t, typing.Unproven, w.prompts.state("k"))
	})
}

// The text shows only after a while.
func TestSlowTerminalIsAwaited(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.slow = true })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Empty(t, a.heard())
		a.set(func(a *agent) { a.slow = false })
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// Versions and setups without presence files.
func TestP4_PromptNeedsNoPresenceFile(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.tmux.onLaunch = func(a *agent, _ *tmuxtest.Process) { a.silent = true }
		r, a := w.starting()
		w.report(r)
		w.pass(presenceGrace / 2)
		assert.Equal(t, session.Starting, w.get(r.ID).State, "a presence file may still come")
		w.pass(presenceGrace)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}
