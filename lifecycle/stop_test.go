package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func (w *world) archive(r session.Record) ending.Receipt {
	w.t.Helper()
	require.NoError(w.t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
	w.pass(time.Second)
	told, receipt := lastHeard[ending.Receipt](w.news)
	require.Equal(w.t, r.ID, told.ID)
	assert.Equal(w.t, w.get(r.ID).State, told.State, "what is told is what is on disk")
	return receipt
}

// The record keeps who asked, next to the evidence in words.
func TestHistoryKeepsRequesterOfEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		quiet time.Duration
		cause port.Cause
		rule  session.Rule
	}{
		"a person":               {0, port.Cause{By: 7, Why: "asked for"}, ruleStop},
		"a person, of idle ones": {0, port.Cause{By: 7, Why: "asked for"}, ruleStop},
		"silence":                {time.Hour, port.Cause{Why: "nothing has happened"}, RuleIdle},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.settled()
				if name == "a person" {
					require.NoError(t, w.BeginEnd(w.ctx, r.ID, session.Archived, tt.cause))
				} else {
					seen := w.Observer.Inspector(w.ctx)(w.get(r.ID)).Active
					require.NoError(t, w.ArchiveQuiet(w.ctx, r.ID, port.Silence{Since: seen, Quiet: tt.quiet, Cause: tt.cause}))
				}
				w.pass(time.Second)
				got := w.get(r.ID)
				change := got.History[len(got.History)-2]
				assert.Equal(t, session.Archived, got.State)
				assert.Equal(t, []any{session.Stopping, tt.rule, tt.cause.By, tt.cause.Why}, []any{change.To, change.Rule, change.By, change.Why})
			})
		})
	}
}

// A session with schedules of its own is not archived for its silence; that is reported.
func TestScheduledSessionStaysAndIsReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.settled()
		w.edit(r.ID, func(r *session.Record) { r.Binding.Schedules = 2 })
		seen := w.Observer.Inspector(w.ctx)(w.get(r.ID)).Active
		look := func(quiet time.Duration) {
			err := w.ArchiveQuiet(w.ctx, r.ID, port.Silence{Since: seen, Quiet: quiet, Cause: port.Cause{Why: "nothing has happened"}})
			require.ErrorIs(t, err, ErrChanged)
		}
		look(0) // a person asked, who reads it in the answer
		assert.Zero(t, toldOf[news.Spared](w.news))
		look(6 * time.Hour)
		told, spared := lastHeard[news.Spared](w.news)
		assert.Equal(t, r.ID, told.ID)
		assert.Equal(t, news.Spared{Quiet: 6 * time.Hour, Schedules: 2}, spared)
		assert.Equal(t, session.Running, w.get(r.ID).State)
	})
}

func TestP3_ArchiveEndsAgentAndReports(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		receipt := w.archive(r)
		got := w.get(r.ID)
		assert.Equal(t, session.Archived, got.State)
		assert.Nil(t, got.Binding)
		assert.False(t, got.EndedAt.IsZero())
		require.NotNil(t, receipt.Agent)
		assert.True(t, receipt.Agent.Ended && receipt.Agent.Verified)
		assert.Equal(t, process.HowHangUp, receipt.Agent.How)
		assert.Empty(t, receipt.Others)
		assert.Empty(t, receipt.Failures)
		assert.Equal(t, fmt.Sprintf("nothing of it lives; process %d ended (hup)", a.id.PID), got.History[len(got.History)-1].Why)
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
		assert.Empty(t, w.tmux.windows())
	})
}

func TestP3_IntentIsOnDiskBeforeEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		var seen session.Record
		w.order.onPoint(func(name string) {
			if name == "stop-recorded" {
				seen = w.get(r.ID)
				assert.Empty(t, w.processes.Signalled())
			}
		})
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Completed, port.Cause{Why: "done"}))
		assert.Equal(t, session.Stopping, seen.State)
		assert.Equal(t, session.Completed, seen.Final)
		assert.Equal(t, a.id, seen.Binding.Agent)
		assert.Equal(t, session.Completed, w.get(r.ID).State)
	})
}

func TestP3_SurvivorPreventsArchive(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.id.PID, tabletest.Never)
		receipt := w.archive(r)
		got := w.get(r.ID)
		assert.Equal(t, session.CleanupFailed, got.State)
		assert.NotEmpty(t, receipt.Failures)
		require.NotNil(t, got.Cleanup)
		assert.Contains(t, got.Cleanup.Processes, a.id)
		assert.Equal(t, 1, got.Cleanup.Attempts)
		assert.True(t, got.Cleanup.NotBefore.After(time.Now()))
		assert.NotNil(t, got.Binding, "who it was is not forgotten")

		w.archive(r)
		got = w.get(r.ID)
		assert.Equal(t, session.CleanupFailed, got.State)
		assert.Equal(t, 2, got.Cleanup.Attempts)

		w.processes.YieldsTo(a.id.PID, process.HowHangUp)
		w.archive(r)
		got = w.get(r.ID)
		assert.Equal(t, session.Archived, got.State)
		assert.Nil(t, got.Cleanup)
		assert.Nil(t, got.Binding)
	})
}

// An unknown process is never called archived, and is not ended either.
func TestP6_UnknownIsNeitherArchivedNorEnded(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, a *agent)
	}{
		{"liveness unknown", func(w *world, _ *agent) { w.processes.HideLiveness(true) }},
		{"pane gone, liveness unknown", func(w *world, a *agent) {
			w.processes.HideLiveness(true)
			w.tmux.ClosePaneByHand(a.pane)
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				tc.spoil(w, a)
				receipt := w.archive(r)
				assert.Equal(t, session.CleanupFailed, w.get(r.ID).State)
				assert.NotEmpty(t, receipt.Failures)
				assert.Empty(t, w.processes.Signalled())
			})
		})
	}
}

func TestP3_UnreadableProcessTablePreventsArchive(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.processes.FailSnapshots(errors.New("/proc is not readable"))
		w.archive(r)
		assert.Equal(t, session.CleanupFailed, w.get(r.ID).State)
	})
}

// A presence file has the agent's activity, not its liveness: that comes from the kernel.
func TestP3_UnreadablePresenceFileAllowsArchive(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.unreadable = presence.ErrTorn })
		receipt := w.archive(r)
		assert.Empty(t, receipt.Failures)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
	})
}

// A ccbot that runs for years remembers nothing of the sessions that have ended since.
func TestEndedSessionLeavesNoMemory(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		archived, _ := w.started()
		ended, a := w.started()
		w.tells(ended, a)
		w.held(ended, "k", viewtest.Said)
		w.pass(time.Minute)
		require.Len(t, w.states.byID, 2)
		require.NoError(t, w.Archive(w.ctx, archived.ID, session.Archived, port.Cause{Why: "asked"}))
		w.tmux.End(a.pane, tmuxtest.Exit{})
		w.processes.Exit(a.id.PID)
		w.pass(time.Minute)
		require.Equal(t, session.Completed, w.get(ended.ID).State)
		assert.Empty(t, w.states.byID)
	})
}

func TestArchiveOfWhatHasEnded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.restart() // a Service that takes no steps
		r, a := w.starting()
		w.tmux.die(a, tmuxtest.Exit{})
		receipt := w.archive(r)
		assert.Nil(t, receipt.Agent)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Empty(t, w.processes.Signalled())
		assert.Empty(t, w.tmux.windows())
	})
}

// After the agent's end a person may take its pane for a shell
// (respawn-pane). That shell is theirs.
func TestP2_RespawnedPaneIsNotClosed(t *testing.T) {
	tests := []struct {
		name  string
		after func(w *world, r session.Record)
	}{
		{"archive", func(w *world, r session.Record) { w.archive(r) }},
		{"step", func(w *world, r session.Record) {
			_, err := w.step(w.ctx, r.ID)
			require.NoError(w.t, err)
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.restart()
				r, a := w.starting()
				w.tmux.die(a, tmuxtest.Exit{})
				w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Dead, p.PID, p.Command = false, 4242, "bash" })
				tc.after(w, r)
				assert.Len(t, w.tmux.windows(), 1, "the person's shell was closed")
			})
		})
	}
}

func TestP2_SplitPanesStay(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		split := w.tmux.Split(a.pane)
		receipt := w.archive(r)
		assert.True(t, receipt.Split)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		_, err := w.tmux.Fake.Pane(w.ctx, split)
		assert.NoError(t, err)
		_, err = w.tmux.Fake.Pane(w.ctx, a.pane)
		assert.ErrorIs(t, err, tmux.ErrNoPane)
	})
}

func TestP3_ProvenLeftoverIsEnded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		left := w.leftover(777, r)
		receipt := w.archive(r)
		assert.Equal(t, []process.Identity{a.id, left}, w.processes.Signalled())
		require.Len(t, receipt.Others, 1)
		assert.True(t, receipt.Others[0].Ended)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
	})
}

// Spared processes are reported; a leftover among them prevents the archive.
func TestP2_UnprovenProcessIsSpared(t *testing.T) {
	claims := func(w *world, who process.Identity, r session.Record) {
		w.presences.claim(presence.File{PID: who.PID, ProcStart: who.Start, SessionID: r.AgentSessionID})
	}
	tests := []struct {
		name  string
		want  session.State
		other func(w *world, r session.Record)
	}{
		{"claims to write it but is no agent", session.Archived, func(w *world, r session.Record) {
			claims(w, w.processes.Start(777, []string{"vim", "notes"}), r)
		}},
		{"root's", session.CleanupFailed, func(w *world, r session.Record) {
			w.leftover(777, r, func(p *process.Process) { p.UID = 0 })
		}},
		{"evidence contradicts itself", session.CleanupFailed, func(w *world, r session.Record) {
			id := w.processes.Start(777, []string{"claude"})
			claims(w, id, r)
			w.bindings.claim(id, uuid.New())
		}},
		{"the agent of another session", session.Archived, func(w *world, r session.Record) {
			other, b := w.started()
			claims(w, b.id, r)
			require.NotEqual(w.t, other.ID, r.ID)
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				tc.other(w, r)
				receipt := w.archive(r)
				assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
				assert.Equal(t, tc.want, w.get(r.ID).State)
				assert.Equal(t, tc.want == session.CleanupFailed, len(receipt.Failures) > 0)
				assert.True(t, len(receipt.Failures) > 0 || !receipt.Others[0].Ended && receipt.Others[0].Reason != "", "what is spared is told")
			})
		})
	}
}

// TestP1_OtherUsersArgvIsIgnored: any user of the machine can start processes that name a
// conversation, as many as it likes.
func TestP1_OtherUsersArgvIsIgnored(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		for pid := 700; pid < 760; pid++ {
			w.leftover(pid, r, func(p *process.Process) { p.UID = tabletest.User + 1 })
		}
		require.NoError(t, w.noticeWriters(w.ctx))
		assert.Empty(t, w.writersOf(r))
		receipt := w.archive(r)
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Empty(t, receipt.Failures)
		assert.Empty(t, receipt.Others, "the receipt is about this session's processes")

		sources := w.Evidence
		ignored, err := sources.Ignored(w.ctx, r.AgentSessionID)
		require.NoError(t, err)
		assert.Len(t, ignored, 60)

		_, err = w.Restore(w.ctx, port.Restore{Session: r.ID})
		require.NoError(t, err)
	})
}

// TestP1_BoundAgentOfAnotherUserCounts: its command line was written for the session.
func TestP1_BoundAgentOfAnotherUserCounts(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.Change(a.id.PID, func(p *process.Process) { p.UID = tabletest.User + 1 })
		e, err := w.Evidence.Read(w.ctx, r.AgentSessionID)
		require.NoError(t, err)
		require.Len(t, e.Verdicts, 1)
		assert.Equal(t, a.id, e.Verdicts[0].Process.Identity)
		assert.Empty(t, e.Ignored)
	})
}

func TestP2_StrangersAreNotEvenLookedAt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.Start(777, []string{"claude", "--resume", uuid.NewString()})
		w.processes.Start(778, []string{"vim", r.AgentSessionID.String()})
		w.processes.Start(779, []string{"claude", "--resume", r.AgentSessionID.String(), "--fork-session"})
		w.archive(r)
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
		assert.Equal(t, session.Archived, w.get(r.ID).State)
	})
}

// Only a killed agent could not clean up itself; tmux below it is spared always.
func TestP2_DescendantsOfAKilledAgent(t *testing.T) {
	for _, how := range []process.How{process.HowHangUp, process.HowTerm, process.HowKill} {
		t.Run(string(how), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				tool := w.processes.StartNow(901, []string{"sleep", "1000"}, tabletest.Below(a.id.PID))
				w.processes.StartNow(902, []string{"tmux", "attach"}, tabletest.Below(a.id.PID))
				w.processes.YieldsTo(a.id.PID, how)
				w.archive(r)
				want := []process.Identity{a.id}
				if how == process.HowKill {
					want = append(want, tool)
				}
				assert.Equal(t, want, w.processes.Signalled())
			})
		})
	}
}

func TestP3_ConcurrentArchivesEndInOneState(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		finals := []session.State{session.Archived, session.Completed, session.Archived, session.Completed}
		errs := make([]error, len(finals))
		var wg sync.WaitGroup
		for i, final := range finals {
			wg.Go(func() { errs[i] = w.Archive(w.ctx, r.ID, final, port.Cause{Why: "asked"}) })
		}
		wg.Wait()
		done := slices.Index(errs, nil)
		require.GreaterOrEqual(t, done, 0)
		assert.Equal(t, finals[done], w.get(r.ID).State)
		for i, err := range errs {
			var wrong *StateError
			assert.True(t, i == done || errors.As(err, &wrong), "%v", err)
		}
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
	})
}

func TestP8_ArchiveAndRestoreAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { _, _ = w.restoreIt(r.ID) })
			wg.Go(func() { _ = w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}) })
		}
		wg.Wait()
		w.pass(time.Second)
		live := w.get(r.ID).State.Live()
		assert.Equal(t, live, len(w.tmux.windows()) == 1, "%s with windows %v", w.get(r.ID).State, w.tmux.windows())
	})
}

func TestArchiveOfWhatIsOver(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		var wrong *StateError
		require.ErrorAs(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "again"}), &wrong)
		assert.Equal(t, session.Archived, wrong.State)
	})
}

func TestP8_StepFinishesInterruptedArchive(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		require.NoError(t, w.Store.Do(w.ctx, r.ID, func(r *session.Record, save func() error) error {
			require.NoError(t, r.Become(session.Stopping, time.Now(), ruleStop, "asked"))
			r.Final = session.Completed
			return save()
		}))
		w.Wake(r.ID)
		w.pass(time.Second)
		assert.Equal(t, session.Completed, w.get(r.ID).State)
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
		assert.Equal(t, 1, toldOf[ending.Receipt](w.news), "the receipt is told although nobody waits for it")
	})
}

// A stop of ccbot may interrupt an archive at any wait. That is not a failed cleanup: nothing is
// reported, and the next start finishes the archive.
func TestP8_NextStartFinishesStoppedArchive(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.YieldsTo(a.id.PID, process.HowKill)
		w.stop()
		ctx, stop := context.WithTimeout(w.ctx, 5*time.Second)
		defer stop()
		require.ErrorIs(t, w.Archive(ctx, r.ID, session.Archived, port.Cause{Why: "asked"}), context.DeadlineExceeded)
		assert.Equal(t, session.Stopping, w.get(r.ID).State)
		assert.Zero(t, toldOf[ending.Receipt](w.news))
		assert.True(t, w.processes.Alive(a.id))

		w.restart()
		w.comeBack()
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Equal(t, 1, toldOf[ending.Receipt](w.news))
		assert.Empty(t, lastOf[ending.Receipt](w.news).Failures)
	})
}

// A receipt that the chat does not take stays in the record and is sent again.
func TestP3_UnreportedReceiptIsReportedLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.news.fail = func(n news.News) error {
			if _, is := n.(ending.Receipt); is {
				return errors.New("disk full")
			}
			return nil
		}
		assert.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Len(t, w.get(r.ID).News, 1)
		w.news.mu.Lock()
		w.news.fail = nil
		w.news.mu.Unlock()
		w.pass(time.Minute)
		assert.Empty(t, w.get(r.ID).News)
		assert.Equal(t, 1, toldOf[ending.Receipt](w.news))
	})
}

// A prompt was being typed at the archive: it is proven, or reported.
func TestP4_ArchiveSettlesWhatWasBeingTyped(t *testing.T) {
	for _, has := range []bool{true, false} {
		t.Run(map[bool]string{true: "received", false: "not received"}[has], func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				w.held(r, "k", viewtest.Said)
				w.held(r, "later", "another")
				w.pass(time.Second)
				require.Equal(t, typing.Typing, w.prompts.state("k"))
				if has {
					w.write(r, userLine(viewtest.Said))
				}
				w.archive(r)
				assert.Equal(t, typing.Held, w.prompts.state("later"))
				assert.Contains(t, w.get(r.ID).Prompts, "later")
				if has {
					assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
					return
				}
				assert.Equal(t, typing.Unproven, w.prompts.state("k"))
				assert.Equal(t, 1, toldOf[news.Unproven](w.news))
			})
		})
	}
}

// A launch whose outcome was lost has a window that no binding names.
func TestP3_UnboundWindowIsClosed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		split := w.tmux.Split(a.pane)
		w.edit(r.ID, func(r *session.Record) { r.Binding, r.Bound = nil, nil })
		receipt := w.archive(r)
		assert.Empty(t, receipt.Failures)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Equal(t, process.Gone, w.Processes.Liveness(a.id))
		_, err := w.tmux.Fake.Pane(w.ctx, a.pane)
		require.ErrorIs(t, err, tmux.ErrNoPane)
		_, err = w.tmux.Fake.Pane(w.ctx, split)
		assert.NoError(t, err, "a pane that a person split off has the tag too")
	})
}
