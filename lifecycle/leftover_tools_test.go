package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
)

// stubborn is a session with a second writer that has a tool and needs a KILL.
func (w *world) stubborn(r session.Record) (second, tool process.Identity) {
	second = w.leftover(777, r)
	w.processes.YieldsTo(second.PID, process.HowKill)
	return second, w.processes.StartNow(901, []string{"npm", "start"}, tabletest.Below(second.PID))
}

func (w *world) endSecond(r session.Record, second process.Identity) {
	w.t.Helper()
	_, err := w.EndWriters(w.ctx, r.ID, []process.Identity{second})
	require.NoError(w.t, err)
}

// [End it] and even KILL failed: the process still has its tools. Once it is gone they end, in any
// state of the session.
func TestP2_SurvivingWritersToolsAreSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		second, tool := w.stubborn(r)
		w.processes.YieldsTo(second.PID, tabletest.Never)
		w.endSecond(r, second)
		w.pass(5 * time.Minute)
		require.True(t, w.processes.Alive(second))
		assert.True(t, w.processes.Alive(tool))
		assert.Equal(t, []session.Tool{{Process: tool, Of: second}}, w.get(r.ID).Descendants)
		w.processes.Exit(second.PID) // the KILL comes through
		w.pass(2 * time.Minute)
		assert.False(t, w.processes.Alive(tool))
		assert.Empty(t, w.get(r.ID).Descendants)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.True(t, w.processes.Alive(a.id))
	})
}

// Two that were killed at once had the same tool below them, and one survived.
func TestP2_SharedToolLivesWithEitherAgent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		inner := w.processes.StartNow(777, []string{"claude"})
		tool := w.processes.StartNow(901, []string{"make"}, tabletest.Below(inner.PID))
		gone := process.Identity{PID: 776, Start: 1, Boot: boot}
		w.edit(r.ID, func(r *session.Record) {
			r.Descendants = []session.Tool{{Process: tool, Of: gone}, {Process: tool, Of: inner}}
		})
		w.Wake(r.ID)
		w.pass(5 * time.Minute)
		assert.True(t, w.processes.Alive(tool))
		w.processes.Exit(inner.PID)
		w.pass(2 * time.Minute)
		assert.False(t, w.processes.Alive(tool))
	})
}

// A crash right before the KILL of a process next to an ended session: no later stop would end its
// tools.
func TestP8_EndedSessionsNotedTools(t *testing.T) {
	tests := []struct {
		name   string
		killed bool
	}{{"the KILL was sent", true}, {"the KILL was never sent", false}}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				second, tool := w.stubborn(r)
				w.crash("below-recorded", func() { _, _ = w.EndWriters(w.ctx, r.ID, []process.Identity{second}) })
				require.True(t, w.processes.Alive(second))
				require.NotEmpty(t, w.get(r.ID).Descendants)
				if tc.killed {
					w.processes.Exit(second.PID)
				}
				w.comeBack()
				w.pass(2 * time.Minute)
				assert.Equal(t, session.Archived, w.get(r.ID).State)
				assert.Equal(t, !tc.killed, w.processes.Alive(tool))
				assert.Equal(t, tc.killed, len(w.get(r.ID).Descendants) == 0)
			})
		})
	}
}

// The end of the session proves nothing about the tools of others.
func TestP3_NotedToolsOutliveTheSessionsEnd(t *testing.T) {
	ends := map[string]func(w *world, r session.Record, a *agent){
		"archive":        func(w *world, r session.Record, _ *agent) { w.archive(r) },
		"ends by itself": func(w *world, _ session.Record, a *agent) { w.processes.Exit(a.id.PID); w.tmux.ClosePaneByHand(a.pane) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				other := w.processes.StartNow(777, []string{"dd"})
				tool := w.processes.StartNow(901, []string{"sleep", "1000"}, tabletest.Below(other.PID))
				w.edit(r.ID, func(r *session.Record) { r.Descendants = []session.Tool{{Process: tool, Of: other}} })
				end(w, r, a)
				w.pass(10 * time.Second)
				require.False(t, w.get(r.ID).State.Live())
				require.NotEmpty(t, w.get(r.ID).Descendants)
				w.processes.Exit(other.PID)
				w.pass(2 * time.Minute)
				assert.False(t, w.processes.Alive(tool))
				assert.Empty(t, w.get(r.ID).Descendants)
			})
		})
	}
}

// A process that ended by TERM has cleaned up, also next to a killed one.
func TestP2_CleanLeftoversToolsAreSpared(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		left, tool := w.stubborn(r)
		w.pass(2 * tabletest.Tick)
		w.order.onPoint(func(name string) {
			if name == "below-recorded" {
				w.processes.Exit(left.PID)
			}
		})
		w.archive(r)
		w.pass(2 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.True(t, w.processes.Alive(tool))
		assert.Empty(t, w.get(r.ID).Descendants)
	})
}

// A second writer is ended by a person's tap only, wherever it runs.
func TestP2_SecondWriterIsNotTool(t *testing.T) {
	for _, noted := range []bool{false, true} {
		t.Run(map[bool]string{false: "told before", true: "noted before it was told"}[noted], func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.processes.YieldsTo(a.id.PID, process.HowKill)
				second := w.processes.StartNow(777, resume(r.AgentSessionID), tabletest.Below(a.id.PID))
				its := w.processes.StartNow(901, []string{"npm", "test"}, tabletest.Below(second.PID))
				tool := w.processes.StartNow(902, []string{"sleep", "1000"}, tabletest.Below(a.id.PID))
				w.edit(r.ID, func(r *session.Record) {
					r.SecondWriters = []process.Identity{second}
					if noted {
						r.Descendants = []session.Tool{{Process: second, Of: a.id}, {Process: its, Of: a.id}}
					}
				})
				var onDisk []session.Tool
				w.order.onPoint(func(name string) {
					if name == "below-recorded" {
						onDisk = w.get(r.ID).Descendants
					}
				})
				w.archive(r)
				assert.Equal(t, !noted, len(onDisk) == 1, "%v", onDisk)
				w.pass(3 * time.Minute)
				assert.Equal(t, session.Archived, w.get(r.ID).State)
				assert.Equal(t, []process.Identity{a.id, tool}, w.processes.Signalled())
				assert.True(t, w.processes.Alive(second) && w.processes.Alive(its))
				assert.Empty(t, w.get(r.ID).Descendants)
			})
		})
	}
}

// The session's agent is not a tool of another writer that it runs below.
func TestP2_AgentBelowWriterIsNotTool(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		second, tool := w.stubborn(r)
		w.processes.Change(a.id.PID, tabletest.Below(second.PID))
		its := w.processes.StartNow(902, []string{"go", "test"}, tabletest.Below(a.id.PID))
		w.endSecond(r, second)
		w.pass(2 * time.Minute)
		assert.False(t, w.processes.Alive(tool))
		assert.True(t, w.processes.Alive(a.id) && w.processes.Alive(its))
		assert.Equal(t, session.Running, w.get(r.ID).State)
	})
}

// ---- what another try tells

func TestP3_SilentRetryReportsEndedProcesses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		left := w.leftover(777, r)
		w.processes.YieldsTo(a.id.PID, tabletest.Never)
		w.processes.YieldsTo(left.PID, tabletest.Never)
		receipt := w.archive(r)
		require.Len(t, receipt.Failures, 2)
		w.pass(90 * time.Second)
		require.Equal(t, 1, toldOf[ending.Receipt](w.news))
		w.edit(r.ID, func(r *session.Record) { // two more tools of an earlier try
			gone := process.Identity{PID: 776, Start: 1, Boot: boot}
			r.Descendants = append(r.Descendants, session.Tool{Process: w.processes.StartNow(901, []string{"make"}), Of: gone})
		})
		w.pass(5 * time.Minute)
		require.Equal(t, 2, toldOf[ending.Receipt](w.news), "the failures are the same")
		others := lastOf[ending.Receipt](w.news).Others
		assert.True(t, others[len(others)-1].Ended)
		w.pass(5 * time.Hour)
		require.Equal(t, 2, toldOf[ending.Receipt](w.news))

		w.processes.YieldsTo(left.PID, process.HowTerm)
		w.pass(2 * time.Hour)
		assert.Equal(t, 3, toldOf[ending.Receipt](w.news), "the first failure is the same")
	})
}

// Raw errors change their words from try to try.
func TestP3_OtherWordsAreNoNews(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		fail := func(text string) { w.processes.FailSnapshots(errors.New(text)) }
		fail("read after 12 ms: no")
		w.archive(r)
		require.Equal(t, session.CleanupFailed, w.get(r.ID).State)
		fail("read after 13 ms: no")
		w.pass(2 * time.Minute)
		require.Equal(t, 2, w.get(r.ID).Cleanup.Attempts)
		assert.Equal(t, 1, toldOf[ending.Receipt](w.news))
	})
}

// By the time of the record the pid may be another person's.
func TestP3_FailedCleanupNamesNoStranger(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.survived()
		require.Len(t, r.Cleanup.Failures, 1)
		assert.Equal(t, session.CleanupFailure{Kind: string(ending.FailureSurvived), PID: a.id.PID, Detail: "it survived KILL"}, r.Cleanup.Failures[0])
		left := w.leftover(777, r)
		receipt := ending.Receipt{Failures: []ending.Failure{{Kind: ending.FailureSurvived, ID: left, Detail: "it survived KILL"}}}
		w.processes.Exit(left.PID)
		w.processes.StartNow(left.PID, []string{"vim"})
		assert.Equal(t, []process.Identity{left}, receipt.Cleanup(r.Cleanup).Processes)
	})
}

// ---- when

func TestDecideTidy(t *testing.T) {
	with := func(change ...func(*session.Record)) session.Record {
		r := in(session.Archived)
		r.Descendants = []session.Tool{{}}
		for _, c := range change {
			c(&r)
		}
		return r
	}
	running := func(r *session.Record) { r.State = session.Running }
	tidied := func(age time.Duration) view.View {
		return view.View{Now: viewtest.Noon, Tidied: viewtest.Noon.Add(-age)}
	}
	told := func() *typing.Prompt {
		p := heldPrompt()
		p.Reported = []news.Wait{news.HeldDraft}
		return p
	}
	tests := []struct {
		name  string
		r     session.Record
		v     view.View
		head  *typing.Prompt
		act   Do
		again time.Duration
	}{
		{"nothing is noted", in(session.Archived), view.View{Now: viewtest.Noon}, nil, actNothing, 0},
		{"a moment ago", with(), tidied(20 * time.Second), nil, actNothing, 40 * time.Second},
		{"a minute ago", with(), tidied(tidyPace), nil, actTidy, tidyPace},
		{"by a clock that was set back", with(), tidied(-time.Hour), nil, actTidy, tidyPace},
		{"never", with(), view.View{Now: viewtest.Noon}, nil, actTidy, tidyPace},
		{"in a running session", with(running), viewtest.Free(), nil, actTidy, tidyPace},
		{"a prompt comes first", with(running), viewtest.Free(), heldPrompt(), Do(typing.Type), view.Soon},
		{"a draft is to be told", with(running), viewtest.Free(viewtest.Draft("mine"), viewtest.Rested), heldPrompt(), Do(typing.Hold), view.HoldPace},
		{"a draft was told", with(running), viewtest.Free(viewtest.Draft("mine"), viewtest.Rested), told(), actTidy, view.HoldPace},
		{"while it stops", with(func(r *session.Record) { r.State = session.Stopping }), view.View{Now: viewtest.Noon}, nil, FinishStop, 0},
		{"while a retry waits", with(func(r *session.Record) {
			r.State, r.Cleanup = session.CleanupFailed, &session.CleanupError{NotBefore: viewtest.Noon.Add(time.Hour), Attempts: 9}
		}), view.View{Now: viewtest.Noon}, nil, actNothing, time.Hour},
		{"while a retry was noted by a clock that was ahead", with(func(r *session.Record) {
			r.State, r.Cleanup = session.CleanupFailed, &session.CleanupError{NotBefore: viewtest.Noon.AddDate(4, 0, 0), Attempts: 1}
		}), view.View{Now: viewtest.Noon}, nil, Retry, view.Soon},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := decide(tc.r, tc.v, tc.head)
			assert.Equal(t, tc.act, d.Act)
			assert.Equal(t, tc.again, d.Again)
		})
	}
}
