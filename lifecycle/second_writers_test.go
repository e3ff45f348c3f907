package lifecycle

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/port/news"
)

const (
	assistantLine = `{"type":"assistant","uuid":"0b3c5b1e-0000-4000-8000-000000000001","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"hello"}]}}`
	titleLine     = `{"type":"ai-title","aiTitle":"a title"}`
	costLine      = `{"type":"cost-state","totalCostUSD":1}`
)

// look is one scan for second writers.
func (w *world) look() {
	w.t.Helper()
	require.NoError(w.t, w.noticeWriters(w.ctx))
}

func TestP1_RunningSecondWriterIsReportedOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		desk := w.tmux.byHand(resume(r.AgentSessionID)...)
		for range 3 {
			w.look()
		}
		w.pass(time.Hour)
		require.Equal(t, 1, w.news.seconds())
		told, n := lastHeard[OtherWriters](w.news)
		assert.Equal(t, r.ID, told.ID)
		require.Len(t, n, 1)
		assert.Equal(t, desk.id, n[0].Identity)
		assert.True(t, n[0].Proven && n[0].Endable() && n[0].InTmux)
		assert.Equal(t, desk.pane, n[0].Pane.ID)
		assert.Equal(t, "/src", n[0].Cwd)
		assert.Equal(t, []process.Identity{desk.id}, w.get(r.ID).SecondWriters)

		w.restart()
		w.comeBack()
		w.pass(time.Hour)
		assert.Equal(t, 1, w.news.seconds(), "the restart has forgotten it")
		assert.Empty(t, w.processes.Signalled())

		another := w.tmux.byHand(resume(r.AgentSessionID)...)
		w.pass(2 * noticeEvery)
		assert.Equal(t, 2, w.news.seconds())
		assert.Len(t, lastOf[OtherWriters](w.news), 2, "what can be done concerns all of them")
		assert.Equal(t, []process.Identity{desk.id, another.id}, w.get(r.ID).SecondWriters)
	})
}

// A process that has ended is forgotten; another one with its pid is another
// one.
func TestP1_ReusedPidIsReportedAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.processes.StartNow(777, resume(r.AgentSessionID))
		w.look()
		w.processes.Exit(777)
		w.pass(time.Second)
		again := w.processes.StartNow(777, resume(r.AgentSessionID))
		w.look()
		assert.Equal(t, 2, w.news.seconds())
		assert.Equal(t, []process.Identity{again}, w.get(r.ID).SecondWriters)
	})
}

// News that the chat does not take stay in the record.
func TestP1_UnreportedSecondWriterIsReportedLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.news.set(func(n *heardNews) { n.fail = func(news.News) error { return errors.New("disk full") } })
		w.processes.StartNow(777, resume(r.AgentSessionID))
		assert.NoError(t, w.noticeWriters(w.ctx))
		assert.Len(t, w.get(r.ID).News, 1)
		w.news.set(func(n *heardNews) { n.fail = nil })
		w.pass(2 * noticeEvery)
		assert.Equal(t, 1, w.news.seconds())
	})
}

// Neither at any point of its launch nor of its end, nor when it has moved to
// another conversation, is a session's own agent a second writer.
func TestP1_OwnAgentIsNeverReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		points := map[string]bool{}
		w.order.onPoint(func(name string) {
			points[name] = true
			found, err := w.Evidence.Read(w.ctx, w.ids()...)
			require.NoError(t, err)
			for _, r := range w.Store.List() {
				assert.True(t, !noticed(r) || len(found.Unreported(r)) == 0, "%s at %s", r.State, name)
			}
		})
		r, _ := w.started()
		w.look()
		w.write(r, userLine("hello"))
		w.archive(r)
		w.look()
		r, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		w.look()
		w.report(r)
		w.pass(time.Second)
		w.look()
		cleared := uuid.New()
		w.tmux.agentOf(r).set(func(a *agent) { a.session = cleared })
		w.look()
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) {
			e.SessionID, e.TranscriptPath, e.Source = cleared.String(), w.transcript(cleared), "clear"
		})
		w.look()
		w.pass(time.Hour)
		w.archive(w.get(r.ID))
		w.pass(time.Hour)
		assert.Zero(t, w.news.seconds()+w.news.ghosts())
		for _, point := range []string{"start-recorded", "window-made", "bound", "restore-recorded", "stop-recorded", "ended", "news-saved", "news-told", "news-acknowledged"} {
			assert.True(t, points[point], point)
		}
	})
}

// ids are the conversations of all sessions.
func (w *world) ids() (ids []uuid.UUID) {
	for _, r := range w.Store.List() {
		ids = append(ids, r.AgentSessionID)
	}
	return ids
}

// A launcher script that waits for the agent it has started is the bound process;
// its child is the session's own.
func TestP1_LaunchersChildIsOwnAgent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		line := []string{"sh", w.command(), "--session-id", r.AgentSessionID.String()}
		w.processes.Change(a.id.PID, func(p *process.Process) { p.Args = line })
		a.set(func(a *agent) { a.silent = true })
		child := w.processes.StartNow(777, append([]string{"claude"}, line[2:]...), tabletest.Below(a.id.PID))
		w.presences.claim(presence.File{PID: 777, ProcStart: child.Start, SessionID: r.AgentSessionID})
		w.pass(time.Hour)
		assert.Zero(t, w.news.seconds())
		writers, err := w.Writers(w.ctx, r.ID)
		require.NoError(t, err)
		assert.Empty(t, writers)
		ended, err := w.EndWriters(w.ctx, r.ID, []process.Identity{child})
		require.NoError(t, err)
		assert.False(t, ended[0].Ended, "a tap would end the session's own agent")
		assert.True(t, w.processes.Alive(child))
	})
}

// A process that an agent has started on its own conversation is a second writer.
func TestP1_NestedWriterIsReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.StartNow(777, resume(r.AgentSessionID), tabletest.Below(a.id.PID))
		w.look()
		assert.Equal(t, 1, w.news.seconds())
	})
}

// ---- writers of ended sessions

func TestP1_ArchivedSessionsResumeIsReportedOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.pass(time.Minute)
		desk := w.tmux.byHand(resume(r.AgentSessionID)...)
		w.restart() // it came while ccbot was away
		w.comeBack()
		w.write(r, userLine("at the desk"))
		w.pass(time.Hour)
		w.restart()
		w.comeBack()
		w.write(r, assistantLine)
		w.pass(time.Hour)
		require.Equal(t, 1, w.news.ghosts())
		n := lastOf[OtherWriters](w.news)
		require.Len(t, n, 1)
		assert.Equal(t, desk.id, n[0].Identity)
		assert.Equal(t, evidence.Second, n[0].Standing)
		assert.True(t, n[0].Adoptable())
		assert.True(t, w.processes.Alive(desk.id))
		assert.Zero(t, w.news.seconds())
	})
}

// No process is seen that could write, and the conversation still continues.
func TestP1_UnseenWriterIsReportedByGrowth(t *testing.T) {
	tests := []struct {
		name  string
		line  string
		ghost bool
	}{
		{"a person's line", userLine("hello"), true},
		{"the agent's line", assistantLine, true},
		{"a title", titleLine, false},
		{"the costs", costLine, false},
		{"half a line", "", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				w.pass(10 * noticeEvery)
				require.Zero(t, w.news.ghosts(), "what was said before the end is no news")
				if tc.line == "" {
					f, err := os.OpenFile(w.transcript(r.AgentSessionID), os.O_APPEND|os.O_WRONLY, 0o600)
					require.NoError(t, err)
					_, err = f.WriteString(assistantLine[:20])
					require.NoError(t, errors.Join(err, f.Close()))
				} else {
					w.write(r, tc.line)
				}
				w.pass(10 * noticeEvery)
				if !tc.ghost {
					assert.Zero(t, w.news.ghosts())
					return
				}
				require.Equal(t, 1, w.news.ghosts())
				assert.Empty(t, lastOf[OtherWriters](w.news))
				w.restart()
				w.comeBack()
				w.write(r, tc.line)
				w.pass(time.Hour)
				assert.Equal(t, 1, w.news.ghosts(), "it was told once")

				desk := w.tmux.byHand(resume(r.AgentSessionID)...)
				w.pass(2 * noticeEvery)
				assert.Equal(t, 2, w.news.ghosts(), "who it is, is news")
				assert.Equal(t, desk.id, lastOf[OtherWriters](w.news)[0].Identity)
			})
		})
	}
}

// A writer that was reported while the session ran, and spared by its archive, needs no second
// message when it continues.
func TestP1_ReportedWriterExplainsGrowth(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.write(r, userLine("hello"))
		desk := w.tmux.byHand(resume(r.AgentSessionID)...)
		w.look()
		require.Equal(t, 1, w.news.seconds())
		receipt := w.archive(r)
		assert.Equal(t, map[int]string{desk.id.PID: ending.ReasonSecond}, reasons(receipt.Others))
		assert.True(t, w.processes.Alive(desk.id), "it was told: it is not the session's own any more")
		w.write(r, userLine("at the desk"))
		w.pass(2 * noticeEvery)
		w.tmux.quit(desk)
		w.pass(2 * noticeEvery)
		assert.Zero(t, w.news.ghosts())
	})
}

// A process that an end could not prove dead continues to write: that was reported, and the process
// stays the session's own at every later check.
func TestP3_SurvivorStaysLeftover(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.write(r, userLine("hello"))
		left := w.processes.StartNow(777, resume(r.AgentSessionID))
		w.processes.YieldsTo(left.PID, tabletest.Never)
		w.archive(r)
		require.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		w.write(r, assistantLine)
		w.look()
		assert.Zero(t, w.news.ghosts())
		w.pass(3 * time.Hour)
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State, "it lives: that is not archived")
		w.processes.YieldsTo(left.PID, process.HowTerm)
		w.pass(2 * time.Hour)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.False(t, w.processes.Alive(left))
		assert.Zero(t, w.news.ghosts())
	})
}

// The agent itself survived: its output was not reported as another writer's.
func TestP3_SurvivingAgentIsNotSecondWriter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.survived()
		w.write(r, assistantLine)
		w.pass(3 * time.Hour)
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		assert.Zero(t, w.news.ghosts())
		assert.False(t, w.get(r.ID).GrowthReported)
	})
}

// A crash before or after the news repeats them at most, with the same number.
func TestP8_SecondWriterReportedOnce(t *testing.T) {
	for _, point := range []string{"news-saved", "news-told"} {
		inWorld(t, func(t *testing.T, w *world) {
			r, _ := w.started()
			w.stop()
			w.tmux.byHand(resume(r.AgentSessionID)...)
			w.crash(point, func() { assert.Error(t, w.noticeWriters(w.ctx)) })
			w.comeBack()
			w.pass(time.Hour)
			w.restart()
			w.comeBack()
			w.pass(time.Hour)
			assert.Equal(t, 1, w.news.seconds(), point)
		})
	}
}

// A record of a program that did not note where the transcript ended.
func TestP1_UnknownEndIgnoresGrowth(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.edit(r.ID, func(r *session.Record) { r.TranscriptEnd, r.EndedMoment = 0, process.Moment{} })
		w.pass(time.Hour)
		assert.Zero(t, w.news.ghosts())
	})
}

// ---- triggers of a scan

func TestP1_PresenceFileRevealsSecondWriter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		running, _ := w.started()
		over := w.archived()
		var files []presence.File
		for i, r := range []session.Record{running, over} {
			pid := 770 + i
			id := w.processes.StartNow(pid, []string{"claude", "--continue"})
			files = append(files, presence.File{PID: pid, ProcStart: id.Start, SessionID: r.AgentSessionID})
			w.presences.claim(files...)
			w.WakeAgent(pid)
			w.pass(time.Millisecond)
			for range 3 {
				w.WakeAgent(pid)
			}
		}
		w.pass(time.Second)
		assert.Equal(t, 1, w.news.seconds())
		assert.Equal(t, 1, w.news.ghosts())
	})
}

// A person's own working claude changes its file all the time.
func TestStrangersPresenceTriggersNoScan(t *testing.T) {
	tests := []struct {
		name string
		pid  int
		file func(w *world, r session.Record) presence.File
	}{
		{"in another conversation", 777, func(_ *world, _ session.Record) presence.File {
			return presence.File{PID: 777, ProcStart: 1, SessionID: uuid.New()}
		}},
		{"it has ended", 778, func(_ *world, r session.Record) presence.File {
			return presence.File{PID: 777, ProcStart: 1, SessionID: r.AgentSessionID}
		}},
		{"it was told", 777, func(w *world, r session.Record) presence.File {
			id := w.processes.StartNow(777, resume(r.AgentSessionID))
			w.look()
			return presence.File{PID: 777, ProcStart: id.Start, SessionID: r.AgentSessionID}
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				w.presences.claim(tc.file(w, r))
				before := w.processes.Scanned()
				w.WakeAgent(tc.pid)
				w.pass(time.Second)
				assert.Equal(t, before, w.processes.Scanned())
			})
		})
	}
}

func TestWithoutSessionsNobodyIsLookedAt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pass(time.Hour)
		assert.Zero(t, w.processes.Scanned())
	})
}

// ---- bad input

func TestP6_WithoutEvidenceNobodyIsTold(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world)
	}{
		{"the processes cannot be read", func(w *world) {
			w.processes.FailSnapshots(errors.New("/proc is not readable"))
		}},
		{"the presence files cannot be read", func(w *world) { w.presences.fail(errors.New("permission denied")) }},
		{"the hooks' bindings cannot be read", func(w *world) {
			w.bindings.set(func(b *bindings) { b.errs = []error{errors.New("permission denied")} })
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				w.processes.StartNow(777, resume(r.AgentSessionID))
				tc.spoil(w)
				assert.Error(t, w.noticeWriters(w.ctx))
				assert.Zero(t, w.news.seconds())
				assert.Empty(t, w.get(r.ID).SecondWriters)
			})
		})
	}
}

func TestP6_PossibleWriterIsNotReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.processes.StartNow(777, []string{"claude"})
		w.presences.claim(presence.File{PID: 777, SessionID: r.AgentSessionID}) // it does not say its start
		w.pass(time.Hour)
		assert.Zero(t, w.news.seconds())
		assert.Empty(t, w.get(r.ID).SecondWriters)
	})
}
