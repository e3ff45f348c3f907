package lifecycle

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/tmux/tmuxtest"
)

// servedWitness is the witness of an agent that runs in two processes: the one at the terminal
// starts "claude serve", which writes the conversation.
type servedWitness struct{ claude.Witness }

func (servedWitness) IsServer(args []string) bool { return slices.Contains(args, "serve") }

// inServedWorld is inWorld with an agent that runs in two processes.
func inServedWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	base := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, base)
		w.served = true
		w.tmux.onLaunch = func(a *agent, p *tmuxtest.Process) { w.serve(a, p) }
		w.restart()
		w.run()
		test(t, w)
	})
}

// serve starts the server of an agent.
func (w *world) serve(a *agent, p *tmuxtest.Process) {
	a.server = w.processes.StartNow(p.PID+1_000_000, []string{"claude", "serve"}, tabletest.Below(p.PID))
}

func TestP1_BothProcessesOfAgentAreBound(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		assert.Equal(t, a.id, r.Binding.Agent)
		assert.Equal(t, a.server, r.Binding.AgentServer)
		assert.ElementsMatch(t, []process.Identity{a.id, a.server}, r.Bound)
		writers, err := w.Evidence.Writers(w.ctx, r)
		require.NoError(t, err)
		assert.Empty(t, writers, "the server is the session's own writer")

		other := r.Clone()
		other.ID, other.Binding, other.Bound = uuid.New(), nil, nil
		writers, err = w.Evidence.Writers(w.ctx, other)
		require.NoError(t, err)
		require.Len(t, writers, 2, "for another session both write, each once")
		for _, one := range writers {
			assert.Equal(t, r.Name, one.Session)
			assert.NotEmpty(t, one.Spared, "no other session ends it")
		}

		above, err := w.Evidence.AgentAbove(w.ctx, w.Evidence.Line(a.server.PID))
		require.NoError(t, err)
		assert.Equal(t, r.ID, above.Session, "a tool below the server belongs to the session")
	})
}

// An agent without its server is not ready.
func TestP1_AgentIsReadyWithItsServer(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		w.tmux.onLaunch = nil
		r, a := w.starting()
		w.report(r)
		w.pass(30 * time.Second)
		assert.Equal(t, session.Starting, w.get(r.ID).State)
		assert.NotZero(t, toldOf[news.NotReporting](w.news), "the person learns of the wait")
		server := w.processes.StartNow(7_000_001, []string{"claude", "serve"}, tabletest.Below(a.id.PID))
		w.pass(time.Minute)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.Equal(t, server, w.get(r.ID).Binding.AgentServer)
	})
}

func TestP3_ArchiveEndsBothProcesses(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.server.PID, process.HowTerm)
		receipt := w.archive(r)
		got := w.get(r.ID)
		assert.Equal(t, session.Archived, got.State)
		assert.Equal(t, []process.Identity{a.id, a.server}, w.processes.Signalled(), "the terminal first")
		require.NotNil(t, receipt.Agent)
		assert.Equal(t, a.id, receipt.Agent.Process.Identity)
		require.Len(t, receipt.Others, 1)
		assert.Equal(t, a.server, receipt.Others[0].Process.Identity)
		assert.False(t, w.processes.Alive(a.id) || w.processes.Alive(a.server))
		assert.Equal(t, fmt.Sprintf("nothing of it lives; process %d ended (hup); process %d ended (term)", a.id.PID, a.server.PID),
			got.History[len(got.History)-1].Why)
	})
}

// A server that ends by TERM leaves a tool that ignores it. A process that left the tool is not
// touched.
func TestP3_ToolsOfServerEnd(t *testing.T) {
	for name, how := range map[string]process.How{"the server ends with its terminal": process.HowAlreadyGone, "by TERM": process.HowTerm, "by KILL": process.HowKill} {
		t.Run(name, func(t *testing.T) {
			inServedWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				tool := w.processes.StartNow(901, []string{"sh", "tool"}, tabletest.Below(a.server.PID))
				below901 := w.processes.StartNow(902, []string{"sleep", "1000"}, tabletest.Below(tool.PID))
				left := w.processes.StartNow(903, []string{"sleep", "1000"})
				w.processes.YieldsTo(tool.PID, process.HowKill)
				w.processes.YieldsTo(a.server.PID, how)
				if how == process.HowAlreadyGone {
					w.processes.OnStep(func(id process.Identity, _ process.How) {
						if id == a.id {
							w.processes.Exit(a.server.PID)
						}
					})
				}
				receipt := w.archive(r)
				assert.Equal(t, session.Archived, w.get(r.ID).State)
				for _, id := range []process.Identity{a.id, a.server, tool, below901} {
					assert.False(t, w.processes.Alive(id), id.PID)
				}
				assert.True(t, w.processes.Alive(left))
				assert.Empty(t, w.get(r.ID).Descendants)
				i := slices.IndexFunc(receipt.Others, func(e ending.Ending) bool { return e.Process.Identity == tool })
				require.GreaterOrEqual(t, i, 0, "the receipt has the tool")
				assert.Equal(t, process.HowKill, receipt.Others[i].How)
			})
		})
	}
}

// A crash right after the hang-up: the tools of a server that has ended since are on disk.
func TestP8_ToolsOfServerEndAfterCrash(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		tool := w.processes.StartNow(901, []string{"sh", "tool"}, tabletest.Below(a.server.PID))
		w.crash("below-recorded", func() { assert.Error(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"})) })
		assert.True(t, w.processes.Alive(a.id), "nothing has ended yet")
		w.processes.Exit(a.server.PID)
		w.processes.Exit(a.id.PID)
		w.comeBack()
		w.pass(2 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(tool))
	})
}

// Only a child of the terminal's process is its server: a tool below may run the server of another
// terminal.
func TestP2_ServerBelowToolIsLeftAlone(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		w.tmux.onLaunch = func(a *agent, p *tmuxtest.Process) {
			tool := w.processes.StartNow(p.PID+2_000_000, []string{"sh"}, tabletest.Below(p.PID))
			a.server = w.processes.StartNow(p.PID+1_000_000, []string{"claude", "serve"}, tabletest.Below(tool.PID))
		}
		r, a := w.starting()
		w.pass(time.Second)
		assert.False(t, w.get(r.ID).Binding.AgentServer.Valid())
		assert.NotContains(t, w.get(r.ID).Bound, a.server)
	})
}

// A session whose terminal has ended is not concluded while it is unknown whether its server lives.
func TestP6_UnknownServerConcludesNothing(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.Hide(a.server.PID, assert.AnError)
		w.tmux.die(a, tmuxtest.Exit{})
		w.WakeAll()
		w.pass(20 * time.Second)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		w.processes.Hide(a.server.PID, nil)
		w.pass(2 * time.Minute)
		assert.Equal(t, session.Completed, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(a.server))
	})
}

// A server that survives everything keeps the session from being archived.
func TestP3_SurvivingServerPreventsArchive(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.server.PID, tabletest.Never)
		w.archive(r)
		got := w.get(r.ID)
		assert.Equal(t, session.CleanupFailed, got.State)
		assert.Equal(t, []process.Identity{a.server}, got.Cleanup.Processes)
		w.processes.YieldsTo(a.server.PID, process.HowTerm)
		w.archive(r)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
	})
}

// If it is unknown whether the server lives, it is not ended, and the session is not archived.
func TestP3_UnknownServerPreventsArchive(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.Hide(a.server.PID, assert.AnError)
		w.archive(r)
		got := w.get(r.ID)
		assert.Equal(t, session.CleanupFailed, got.State)
		assert.NotContains(t, w.processes.Signalled(), a.server)
	})
}

// An archive before the session is ready ends the server too.
func TestP3_ArchiveOfStartEndsServer(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.starting()
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(a.id) || w.processes.Alive(a.server))
	})
}

// A launch whose terminal ends before it is ready leaves no server.
func TestP3_FailedStartEndsServer(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.starting()
		w.pass(time.Second)
		require.Equal(t, a.server, w.get(r.ID).Binding.AgentServer, "it is bound before the session is ready")
		w.tmux.die(a, tmuxtest.Exit{Status: 1})
		w.pass(20 * time.Second)
		assert.Equal(t, session.Failed, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(a.server))
	})
}

// A server that refuses its settings ends first. Its terminal shows why a moment later.
func TestEndOfServerIsExplained(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.starting()
		w.pass(time.Second)
		w.processes.Exit(a.server.PID)
		w.pass(time.Second)
		assert.Equal(t, session.Starting, w.get(r.ID).State, "its terminal has not ended yet")
		a.mu.Lock()
		a.hidden = true
		a.mu.Unlock()
		w.tmux.die(a, tmuxtest.Exit{Status: 1})
		w.pass(time.Second)
		got := w.get(r.ID)
		assert.Equal(t, session.Failed, got.State)
		_, failed := lastHeard[news.Failed](w.news)
		assert.Equal(t, "something else", failed.Screen)
	})
}

func TestP3_DeadServerEndsTerminal(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.Exit(a.server.PID)
		w.pass(10 * time.Second)
		got := w.get(r.ID)
		assert.Equal(t, session.Completed, got.State)
		assert.False(t, w.processes.Alive(a.id), "P3: the terminal is ended")
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
		assert.NotZero(t, toldOf[news.Ended](w.news), "it is reported")
		_, receipt := lastHeard[ending.Receipt](w.news)
		require.NotNil(t, receipt.Agent)
		assert.Equal(t, a.id, receipt.Agent.Process.Identity, "the receipt has the terminal")
		assert.True(t, slices.ContainsFunc(got.History, func(c session.Change) bool {
			return c.Why == "the agent's server ended by itself"
		}), "%v", got.History)
	})
}

func TestP3_DeadTerminalEndsServer(t *testing.T) {
	for name, closed := range map[string]bool{"its pane is dead": false, "its pane is gone": true} {
		t.Run(name, func(t *testing.T) {
			inServedWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.processes.YieldsTo(a.server.PID, process.HowTerm)
				if closed {
					w.tmux.StopServer()
					w.processes.Exit(a.id.PID)
				} else {
					w.tmux.die(a, tmuxtest.Exit{})
				}
				w.WakeAll()
				w.pass(20 * time.Second)
				got := w.get(r.ID)
				assert.Equal(t, session.Completed, got.State)
				assert.False(t, w.processes.Alive(a.server), "P3: the server is ended")
				assert.Equal(t, []process.Identity{a.server}, w.processes.Signalled())
				assert.NotZero(t, toldOf[news.Ended](w.news), "it is reported")
				_, receipt := lastHeard[ending.Receipt](w.news)
				require.Len(t, receipt.Others, 1)
				assert.Equal(t, a.server, receipt.Others[0].Process.Identity, "the receipt has the server")
			})
		})
	}
}

// A process that has the pid of a bound process, but is another one, is never touched.
func TestP2_ReusedPIDOfServerIsLeftAlone(t *testing.T) {
	for name, pid := range map[string]func(a *agent) int{
		"of the server":   func(a *agent) int { return a.server.PID },
		"of the terminal": func(a *agent) int { return a.id.PID },
	} {
		t.Run(name, func(t *testing.T) {
			inServedWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.stop()
				reused := pid(a)
				if reused == a.id.PID {
					w.tmux.die(a, tmuxtest.Exit{})
				} else {
					w.processes.Exit(reused)
				}
				foreign := w.processes.StartNow(reused, []string{"claude", "serve"})
				w.restart()
				w.comeBack()
				w.pass(20 * time.Second)
				assert.Equal(t, session.Completed, w.get(r.ID).State)
				assert.True(t, w.processes.Alive(foreign))
				assert.NotContains(t, w.processes.Signalled(), foreign)
				assert.False(t, w.processes.Alive(a.id) || w.processes.Alive(a.server))
			})
		})
	}
}

// A crash at each step of an end leaves nothing alive.
func TestP8_EndOfBothProcessesSurvivesCrash(t *testing.T) {
	for _, point := range []string{"stop-recorded", "ended", "news-saved", "news-told", "news-acknowledged"} {
		t.Run(point, func(t *testing.T) {
			inServedWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.crash(point, func() { _ = w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}) })
				w.comeBack()
				assert.Equal(t, session.Archived, w.get(r.ID).State)
				assert.False(t, w.processes.Alive(a.id) || w.processes.Alive(a.server))
			})
		})
	}
	for _, point := range []string{"end-recorded", "ended", "news-saved", "news-told"} {
		t.Run("after the server, "+point, func(t *testing.T) {
			inServedWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.crash(point, func() {
					w.processes.Exit(a.server.PID)
					_, _ = w.core.step(w.ctx, r.ID)
				})
				w.comeBack()
				w.pass(20 * time.Second)
				assert.Equal(t, session.Completed, w.get(r.ID).State)
				assert.False(t, w.processes.Alive(a.id))
			})
		})
	}
}

// The process that holds the terminal must be the bound one, and its server must live.
func TestP7_NothingIsTypedWithoutTerminalAndServer(t *testing.T) {
	for name, change := range map[string]func(w *world, a *agent){
		"another group holds the terminal": func(w *world, a *agent) {
			w.processes.Change(a.id.PID, func(p *process.Process) { p.Foreground = p.PID + 5 })
		},
		"it has left the terminal": func(w *world, a *agent) {
			w.processes.Change(a.id.PID, func(p *process.Process) { p.TTY = 0 })
		},
		"it is unknown whether the server lives": func(w *world, a *agent) {
			w.processes.Hide(a.server.PID, assert.AnError)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inServedWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				change(w, a)
				w.held(r, "1", "hello")
				w.pass(time.Minute)
				assert.Empty(t, a.heard())
				assert.Zero(t, a.inputs)
				assert.Equal(t, session.Running, w.get(r.ID).State)
				assert.NotZero(t, toldOf[news.Held](w.news), "the person learns of the wait")
			})
		})
	}
	inServedWorld(t, func(t *testing.T, w *world) { // the server ends between the look and the paste
		r, a := w.started()
		w.order.onPoint(func(name string) {
			if name == "typing-marked" {
				w.processes.Exit(a.server.PID)
			}
		})
		w.held(r, "1", "hello")
		w.pass(20 * time.Second)
		assert.Empty(t, a.heard())
		assert.Zero(t, a.inputs)
		p, err := w.prompts.Prompt("1")
		require.NoError(t, err)
		assert.Equal(t, typing.Held, p.State)
	})
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.held(r, "1", "hello")
		w.pass(time.Second)
		assert.Equal(t, []string{"hello"}, a.heard(), "otherwise it is typed")
	})
}

// The events of an agent's hooks come from its server.
func TestP1_EventsOfServerCount(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		next := uuid.New()
		a.set(func(a *agent) { a.session = next })
		w.hook(w.get(r.ID), hookwire.SessionStart, func(e *hookwire.Event) { e.SessionID = next.String() })
		assert.Equal(t, next, w.get(r.ID).AgentSessionID)
		assert.Equal(t, view.StateWritten, w.Observer.View(w.ctx, w.get(r.ID)).State.Known, "and so does its presence file")
	})
}

// TestP7_TerminalWithoutServerIsNotAdopted: texts go to the server, and a process that holds the
// terminal and writes the conversation itself takes none.
func TestP7_TerminalWithoutServerIsNotAdopted(t *testing.T) {
	inServedWorld(t, func(t *testing.T, w *world) {
		r, h := w.goneOn()
		writers, err := w.Evidence.Writers(w.ctx, r)
		require.NoError(t, err)
		require.Len(t, writers, 1)
		assert.True(t, writers[0].Endable())
		assert.False(t, writers[0].Adoptable())
		_, err = w.adoptIt(r, h.id)
		require.ErrorIs(t, err, ErrNoTerminal)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
	})
}
