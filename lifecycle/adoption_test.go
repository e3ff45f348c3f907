package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// goneOn has a session over with whose conversation a person continues by hand.
func (w *world) goneOn() (session.Record, hand) {
	w.t.Helper()
	r := w.archived()
	w.pass(time.Minute)
	h := w.tmux.byHand(resume(r.AgentSessionID)...)
	w.write(r, userLine("at the desk"))
	w.pass(2 * noticeEvery)
	return w.get(r.ID), h
}

// adoptIt is [Connect] tapped.
func (w *world) adoptIt(r session.Record, who process.Identity) (session.Record, error) {
	return w.Adopt(w.ctx, AdoptRequest{Agent: who, AgentSessionID: r.AgentSessionID, From: r.ID, Confirmed: true,
		Rule: "chat.adopt", Why: "asked for by 7"})
}

// adopted is such a session after the tap.
func (w *world) adopted() (session.Record, hand) {
	w.t.Helper()
	r, h := w.goneOn()
	h.set(func(a *agent) { a.onEnter = func(a *agent) { w.write(r, userLine(a.said[len(a.said)-1])) } })
	r, err := w.adoptIt(r, h.id)
	require.NoError(w.t, err)
	w.pass(time.Second)
	return r, h
}

func TestP1_AdoptTakesAgentInShell(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		old, h := w.goneOn()
		told := toldOf[news.Transcript](w.news)
		r, err := w.adoptIt(old, h.id)
		require.NoError(t, err)
		assert.Equal(t, session.Running, r.State)
		b := r.Binding
		require.NotNil(t, b)
		assert.Equal(t, h.id, b.Agent)
		assert.Equal(t, h.shell.PID, b.Shell)
		assert.Equal(t, h.pane.String(), b.Pane)
		assert.True(t, b.Adopted)
		assert.Equal(t, "claude", b.Command)
		assert.Equal(t, []process.Identity{h.id}, r.Bound)
		assert.False(t, r.GrowthReported)
		assert.Empty(t, r.SecondWriters, "it is no second writer any more")
		assert.True(t, r.ReportsAt.IsZero(), "no hook reports: the transcript proves")
		assert.Equal(t, told+1, toldOf[news.Transcript](w.news))
		assert.Len(t, w.tmux.windows(), 1)
		assert.Equal(t, r, w.get(r.ID))
		w.pass(time.Hour)
		assert.Zero(t, w.news.seconds())
		assert.Equal(t, talk.PhaseIdle, w.Observer.Inspector(w.ctx)(w.get(r.ID)).Phase)
	})
}

func TestP1_AdoptTakesThePanesOwnProcess(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.pass(time.Minute)
		a := w.tmux.inOwnWindow(resume(r.AgentSessionID)...)
		r, err := w.adoptIt(r, a.id)
		require.NoError(t, err)
		assert.Zero(t, r.Binding.Shell)
		assert.Equal(t, a.id.PID, r.Binding.PanePID())
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		w.archive(r)
		assert.False(t, w.processes.Alive(a.id))
		assert.NotContains(t, w.order.all(), "close "+a.pane.String())
	})
}

func TestP2_UnadoptableProcesses(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, r session.Record, h hand)
		want  error
	}{
		{"in a terminal inside the pane", func(w *world, _ session.Record, h hand) {
			w.processes.Change(h.id.PID, func(p *process.Process) { p.TTY = 99 })
		}, ErrNoTerminal},
		{"without a terminal", func(w *world, _ session.Record, h hand) {
			w.processes.Change(h.id.PID, func(p *process.Process) { p.TTY, p.Foreground = 0, -1 })
		}, ErrNoTerminal},
		{"in the background", func(w *world, _ session.Record, h hand) { w.tmux.suspend(h) }, ErrNoTerminal},
		{"called like its shell", func(w *world, _ session.Record, h hand) { // a launcher script that does not exec
			w.tmux.Change(h.pane, func(p *tmux.Pane) { p.Command = "bash" })
		}, ErrNoTerminal},
		{"in another tmux", func(w *world, _ session.Record, h hand) { w.tmux.ClosePaneByHand(h.pane) }, ErrNoTerminal},
		{"in a pane whose process is dead", func(w *world, _ session.Record, h hand) {
			w.tmux.Change(h.pane, func(p *tmux.Pane) { p.Dead = true })
		}, ErrNoTerminal},
		{"the agent of another session", func(w *world, _ session.Record, h hand) {
			other, _ := w.started()
			w.edit(other.ID, func(r *session.Record) { r.Binding.Agent = h.id })
		}, ErrChanged},
		{"it has moved on", func(_ *world, _ session.Record, h hand) {
			h.set(func(a *agent) { a.session = uuid.New() })
		}, ErrChanged},
		{"it has ended", func(w *world, _ session.Record, h hand) { w.tmux.quit(h) }, ErrChanged},
		{"its pid is another's now", func(w *world, r session.Record, h hand) {
			w.tmux.quit(h)
			w.processes.StartNow(h.id.PID, resume(r.AgentSessionID))
		}, ErrChanged},
		{"nobody knows whether it writes", func(w *world, _ session.Record, h hand) {
			w.bindings.claim(h.id, uuid.New()) // contradicts its presence file
		}, ErrChanged},
		{"no archive could end it", func(w *world, _ session.Record, h hand) {
			w.processes.Change(w.Processes.Self().PID, tabletest.Below(h.id.PID)) // ccbot was started by it
		}, ErrChanged},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.goneOn()
				tc.spoil(w, r, h)
				before := w.get(r.ID)
				_, err := w.adoptIt(r, h.id)
				assert.ErrorIs(t, err, tc.want)
				after := w.get(r.ID)
				assert.Equal(t, before.State, after.State)
				assert.Nil(t, after.Binding)
			})
		})
	}
}

func TestP1_AdoptRefusesBesideAnotherWriter(t *testing.T) {
	tests := []struct {
		name  string
		other func(w *world, r session.Record)
	}{
		{"another one", func(w *world, r session.Record) { w.processes.StartNow(777, resume(r.AgentSessionID)) }},
		{"one that may be", func(w *world, r session.Record) {
			w.processes.StartNow(777, []string{"claude"})
			w.presences.claim(presence.File{PID: 777, SessionID: r.AgentSessionID})
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.goneOn()
				tc.other(w, r)
				_, err := w.adoptIt(r, h.id)
				var refused *WriterError
				require.ErrorAs(t, err, &refused)
				require.Len(t, refused.Writers, 1)
				assert.Equal(t, 777, refused.Writers[0].PID)
				assert.Equal(t, session.Archived, w.get(r.ID).State)
			})
		})
	}
}

func TestP1_OnlyWhatIsOverIsAdopted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		h := w.tmux.byHand(resume(r.AgentSessionID)...)
		for _, state := range []session.State{session.Running, session.Stopping, session.Starting, session.Restoring, session.CleanupFailed} {
			w.restart() // no step in between
			w.edit(r.ID, func(r *session.Record) { r.State = state })
			_, err := w.adoptIt(r, h.id)
			var wrong *StateError
			require.ErrorAs(t, err, &wrong, state)
			assert.Equal(t, state, wrong.State)
		}
		_, err := w.adoptIt(session.Record{ID: uuid.New()}, h.id)
		assert.ErrorIs(t, err, session.ErrNotFound)
	})
}

// ---- typing

func TestP7_PromptIsTypedIntoAdoptedPane(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.adopted()
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, h.heard())
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"), "proven by the transcript")

		w.restart()
		w.comeBack()
		w.held(r, "again", "another")
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said, "another"}, h.heard())
	})
}

// The shell's pid is the pane's: only the kernel knows whether keys would reach the agent.
func TestP7_ShellGetsNoText(t *testing.T) {
	tests := []struct {
		name   string
		behind func(w *world, h hand)
	}{
		{"suspended", func(w *world, h hand) { w.tmux.suspend(h) }},
		{"another program of the same name is in front", func(w *world, h hand) {
			other := w.processes.StartNow(777, []string{"claude"}, tabletest.Below(h.shell.PID), inTerminal(h.shell.PID, h.shell.PID))
			w.processes.Change(h.id.PID, func(p *process.Process) { p.Foreground = other.PID })
		}},
		{"it cannot be read", func(w *world, h hand) {
			w.processes.Hide(h.id.PID, assert.AnError)
		}},
		{"it has moved to another terminal", func(w *world, h hand) {
			w.processes.Change(h.id.PID, func(p *process.Process) { p.TTY, p.Foreground = 0, -1 })
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.adopted()
				tc.behind(w, h)
				w.held(r, "k", viewtest.Said)
				w.pass(time.Hour)
				assert.Empty(t, w.tmux.Inputs(h.pane))
				assert.Equal(t, typing.Held, w.prompts.state("k"))
				assert.Equal(t, 1, w.news.held(news.HeldUnknown))
				assert.ErrorIs(t, interrupted(w, r), view.ErrNoAgent)
				assert.ErrorIs(t, w.SendAnyway(w.ctx, r.ID, "k"), typing.ErrBoxBusy)
				assert.Empty(t, w.tmux.Inputs(h.pane))
			})
		})
	}
}

// The agent was in front at the check, and another claude is when the keys come: tmux cannot
// distinguish them.
func TestP7_KernelIsReadBeforeEachKey(t *testing.T) {
	for _, point := range []string{"typing-marked", "pasted"} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.adopted()
				w.order.onPoint(func(name string) {
					if name == point {
						w.processes.Change(h.id.PID, func(p *process.Process) { p.Foreground = 777 })
					}
				})
				w.held(r, "k", viewtest.Said)
				w.pass(time.Minute)
				assert.Empty(t, h.heard())
				if point == "typing-marked" {
					assert.Empty(t, w.tmux.Inputs(h.pane))
				}
				assert.NotContains(t, w.tmux.Inputs(h.pane), tmuxtest.Input{Key: "Enter"})
			})
		})
	}
}

// A shell's screen is not the agent's: no dialog, no box.
func TestP7_ShellScreenIsNotAgents(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.adopted()
		h.set(func(a *agent) { a.silent = true }) // the screen alone would show its activity
		w.tmux.SetScreen(h.pane, (&agent{dialog: true}).screen())
		w.tmux.suspend(h)
		w.Wake(r.ID)
		w.pass(time.Minute)
		assert.Zero(t, toldOf[news.Dialog](w.news))
		assert.Equal(t, talk.PhaseUnknown, w.Observer.Inspector(w.ctx)(w.get(r.ID)).Phase)
	})
}

// ---- its end

func TestP2_AdoptedAgentsEndLeavesShell(t *testing.T) {
	tests := []struct {
		name string
		end  func(w *world, h hand)
	}{
		{"it ends in its shell", func(w *world, h hand) { w.tmux.quit(h) }},
		{"the person closes the terminal", func(w *world, h hand) {
			w.tmux.ClosePaneByHand(h.pane)
			w.processes.Exit(h.id.PID)
			w.processes.Exit(h.shell.PID)
		}},
		{"tmux does not answer", func(w *world, h hand) {
			for range 10 {
				w.tmux.Fail("Pane", tmux.ErrLost)
			}
			w.tmux.quit(h)
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.adopted()
				tc.end(w, h)
				w.pass(time.Second)
				got := w.get(r.ID)
				assert.Equal(t, session.Completed, got.State)
				assert.Nil(t, got.Binding)
				require.NotNil(t, got.Exit)
				assert.False(t, got.Exit.Known, "nobody saw its status")
				assert.Empty(t, got.Exit.Screen, "the screen is the shell's")
				assert.Equal(t, 1, toldOf[news.Ended](w.news))
				assert.Empty(t, lastOf[news.Ended](w.news).Screen)
				assert.Zero(t, toldOf[news.Lost](w.news))
				assert.NotContains(t, w.order.all(), "close "+h.pane.String())
				assert.Empty(t, w.processes.Signalled()[1:], "after the archive before")
			})
		})
	}
}

func TestP2_ArchiveEndsOnlyAdoptedAgent(t *testing.T) {
	for _, how := range []process.How{process.HowTerm, process.HowKill} {
		t.Run(string(how), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.adopted()
				w.processes.YieldsTo(h.id.PID, how)
				beside := w.processes.StartNow(778, []string{"make"}, tabletest.Below(h.shell.PID))
				before := len(w.processes.Signalled())
				receipt := w.archive(r)
				assert.True(t, receipt.Adopted)
				assert.False(t, receipt.Split)
				require.NotNil(t, receipt.Agent)
				assert.Equal(t, how, receipt.Agent.How)
				assert.Equal(t, session.Archived, w.get(r.ID).State)
				assert.Equal(t, []process.Identity{h.id}, w.processes.Signalled()[before:])
				assert.True(t, w.processes.Alive(h.shell) && w.processes.Alive(beside))
				_, err := w.tmux.Fake.Pane(w.ctx, h.pane)
				assert.NoError(t, err)
				w.pass(time.Hour)
				assert.Equal(t, 1, w.news.ghosts(), "only before it was adopted")
			})
		})
	}
}

// A pane that was split off the session's own window carries its tag: it is the
// person's all the same.
func TestP2_AdoptedPaneWithTagStays(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		split := w.tmux.Split(a.pane)
		w.archive(r)
		h := w.tmux.inShell(split, resume(r.AgentSessionID)...)
		r, err := w.adoptIt(r, h.id)
		require.NoError(t, err)
		pane, err := w.tmux.Fake.Pane(w.ctx, split)
		require.NoError(t, err)
		require.Equal(t, w.Evidence.Tag(r.ID), pane.Tag)
		w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(h.id))
		_, err = w.tmux.Fake.Pane(w.ctx, split)
		assert.NoError(t, err)
	})
}

// The kernel proves the end of the agent: tmux is not needed for it.
func TestP3_AdoptedAgentEndsWithoutTmux(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.adopted()
		for range 10 {
			w.tmux.Fail("Server", tmux.ErrLost)
		}
		receipt := w.archive(r)
		assert.Empty(t, receipt.Failures)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(h.id))
	})
}

// The status line of the session's earlier agent proves nothing about an agent that a person
// started.
func TestP7_EarlierStatusLineDoesNotCount(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.adopted()
		w.Observer.Rows = func(uuid.UUID) []string { t.Error("its status line is read"); return nil }
		assert.True(t, w.Observer.View(w.ctx, r).Captured)
	})
}

// ---- its conversation goes on in the agent's own background

// A person moves the conversation into the background of Claude Code, where it has another id and a
// process of its own. That process is no leftover, and keeps a resume from making a second writer.
func TestP1_ConversationInBackgroundIsFound(t *testing.T) {
	for name, argv := range map[string][]string{
		"a process that waited for it":   {"claude", "bg-spare"},
		"a process that was made for it": {"claude", "--session-id", "%s", "--fork-session", "--resume", "/x/parent-transcript.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.adopted()
				there := uuid.New()
				w.write(r, fmt.Sprintf(`{"type":"continued-in","timestamp":%q,"sessionId":%q,"continuedInSessionId":%q}`,
					time.Now().UTC().Format(time.RFC3339Nano), r.AgentSessionID, there))
				for i, arg := range argv {
					argv[i] = strings.ReplaceAll(arg, "%s", there.String())
				}
				job := w.processes.StartNow(778, argv) // before the end is seen
				w.tmux.quit(h)
				w.pass(time.Second)
				got := w.get(r.ID)
				assert.Equal(t, session.Completed, got.State)
				assert.Equal(t, there, got.AgentSessionID)
				assert.Contains(t, got.EarlierSessionIDs, r.AgentSessionID)
				assert.Nil(t, got.Interruption)
				assert.Equal(t, "claude attach "+there.String()[:8], lastOf[news.Ended](w.news).Attach)

				w.presences.claim(presence.File{PID: 778, ProcStart: job.Start, SessionID: there})
				w.write(got, userLine("in the background"))
				w.pass(2 * noticeEvery)
				assert.Zero(t, w.news.seconds(), "the news of the end has named it")

				_, err := w.restoreIt(r.ID)
				var refused *WriterError
				require.ErrorAs(t, err, &refused)
				require.Len(t, refused.Writers, 1)
				assert.Equal(t, job, refused.Writers[0].Identity)
				assert.True(t, refused.Writers[0].Endable(), "a person may decide so")
				assert.Equal(t, process.Alive, w.processes.Liveness(job), "nobody has asked to end it")
			})
		})
	}
}

// Claude Code makes the transcript of a job at its first prompt. Without one the conversation is where it was.
func TestP5_NothingWasSaidInTheBackground(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.adopted()
		w.write(r, userLine("before"))
		w.write(r, fmt.Sprintf(`{"type":"continued-in","timestamp":%q,"continuedInSessionId":%q}`, time.Now().UTC().Format(time.RFC3339Nano), uuid.New()))
		was := w.get(r.ID)
		cursor, _ := was.Cursor()
		w.write(r, fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"id":"m","content":[{"type":"text","text":"not shown yet"}]}}`, time.Now().UTC().Format(time.RFC3339Nano)))
		w.tmux.quit(h)
		w.pass(time.Second)
		require.NotEqual(t, r.AgentSessionID, w.get(r.ID).AgentSessionID)
		back, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		assert.Equal(t, r.AgentSessionID, back.AgentSessionID)
		now, _ := back.Cursor()
		assert.Equal(t, cursor, now, "what the chat lacks is still to be shown")
	})
}

// An earlier move into the background says nothing of the end of an agent that a person started later.
func TestEarlierMoveIsForgotten(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.adopted()
		w.write(r, fmt.Sprintf(`{"type":"continued-in","timestamp":%q,"continuedInSessionId":%q}`,
			time.Now().Add(-time.Hour).UTC().Format(time.RFC3339Nano), uuid.New()))
		w.tmux.quit(h)
		w.pass(time.Second)
		assert.Equal(t, r.AgentSessionID, w.get(r.ID).AgentSessionID)
		assert.Empty(t, lastOf[news.Ended](w.news).Attach)
	})
}
