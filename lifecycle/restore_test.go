package lifecycle

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/claude/transcript"
	"ccbot/agent/jsonl"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// argvOf returns the arguments of a session's launch after its settings.
func (w *world) argvOf(r session.Record) []string {
	w.t.Helper()
	require.NotNil(w.t, r.Binding)
	return w.tmux.Process(w.tmux.agentOf(r).pane).Spec.Argv[3:]
}

// writeRaw adds bytes to the session's transcript.
func (w *world) writeRaw(r session.Record, data string) {
	w.t.Helper()
	f, err := os.OpenFile(w.transcript(r.AgentSessionID), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	_, err = f.WriteString(data)
	require.NoError(w.t, err)
	require.NoError(w.t, f.Close())
}

// ---- the directory

func TestRestoreElsewhere(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		other := filepath.Join(w.base, "other")
		require.NoError(t, os.Mkdir(other, 0o700))
		back, err := w.Restore(w.ctx, port.Restore{Session: r.ID, Dir: other + "/."})
		require.NoError(t, err)
		assert.Equal(t, other, back.Record.Dir)
		assert.Equal(t, other, w.tmux.Process(w.tmux.agentOf(back.Record).pane).Spec.Dir)
		w.report(back.Record)
		w.pass(time.Second)
		assert.Equal(t, session.Running, w.get(r.ID).State)
	})
}

// A refusal changes nothing, the directory neither.
func TestRefusedRestoreKeepsDirectory(t *testing.T) {
	tests := []struct {
		name  string
		dir   string // below the base
		spoil func(w *world, r session.Record)
		check func(t *testing.T, err error)
	}{
		{"a missing one", "none", nil, func(t *testing.T, err error) {
			var e *DirError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, DirMissing, e.Why)
		}},
		{"a file", "claude", nil, func(t *testing.T, err error) {
			var e *DirError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, DirNotADir, e.Why)
		}},
		{"another writer", "other", func(w *world, r session.Record) { w.processes.StartNow(777, resume(r.AgentSessionID)) },
			func(t *testing.T, err error) {
				var e *WriterError
				assert.ErrorAs(t, err, &e)
			}},
		{"a damaged transcript", "other", func(w *world, r session.Record) { w.writeRaw(r, "{") }, func(t *testing.T, err error) {
			var e *TranscriptError
			assert.ErrorAs(t, err, &e)
		}},
		{"no claude", "other", func(w *world, _ session.Record) { require.NoError(w.t, os.Remove(w.command())) },
			func(t *testing.T, err error) { assert.ErrorIs(t, err, claude.ErrNotInstalled) }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				require.NoError(t, os.Mkdir(filepath.Join(w.base, "other"), 0o700))
				if tc.spoil != nil {
					tc.spoil(w, r)
				}
				before := w.get(r.ID)
				_, err := w.Restore(w.ctx, port.Restore{Session: r.ID, Dir: filepath.Join(w.base, tc.dir)})
				tc.check(t, err)
				after := w.get(r.ID)
				assert.Equal(t, before.Dir, after.Dir)
				assert.Equal(t, before.State, after.State)
				assert.Empty(t, w.tmux.windows())
			})
		})
	}
}

// The first directory is missing: that is reported, and another one may be named.
func TestRestoreReportsMissingDirectory(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		require.NoError(t, os.Remove(r.Dir))
		_, err := w.restoreIt(r.ID)
		var e *DirError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, &DirError{Dir: r.Dir, Why: DirMissing}, e)
		back, err := w.Restore(w.ctx, port.Restore{Session: r.ID, Dir: w.base})
		require.NoError(t, err)
		assert.Equal(t, w.base, back.Record.Dir)
	})
}

// ---- the transcript

// damages are the effects of a crash of the machine on a transcript.
var damages = map[string]struct {
	do    func(w *world, r session.Record)
	fault coding.Fault
}{
	"half a line": {func(w *world, r session.Record) { w.writeRaw(r, assistantLine[:40]) }, transcript.FaultHalfLine},
	"NULs":        {func(w *world, r session.Record) { w.writeRaw(r, "\x00\x00\x00\x00") }, transcript.FaultNUL},
	"two files": {func(w *world, r session.Record) {
		dir := filepath.Join(filepath.Join(w.base, "projects"), "-other")
		require.NoError(w.t, os.Mkdir(dir, 0o700))
		require.NoError(w.t, os.WriteFile(filepath.Join(dir, r.AgentSessionID.String()+".jsonl"), []byte(userLine("there")+"\n"), 0o600))
	}, transcript.FaultDuplicate},
}

func TestDamagedTranscriptNeedsDecision(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				damage.do(w, r)
				_, err := w.restoreIt(r.ID)
				var e *TranscriptError
				require.ErrorAs(t, err, &e)
				assert.Equal(t, []coding.Fault{damage.fault}, e.Health.Faults)
				assert.Equal(t, w.transcript(r.AgentSessionID), e.Health.Path)
				assert.Equal(t, r, w.get(r.ID))
				assert.Empty(t, w.tmux.windows())
			})
		})
	}
}

func TestDamagedTranscriptIsResumedUnchanged(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				damage.do(w, r)
				before, err := os.ReadFile(w.transcript(r.AgentSessionID))
				require.NoError(t, err)
				back, err := w.Restore(w.ctx, port.Restore{Session: r.ID, Damaged: port.UseAsItIs})
				require.NoError(t, err)
				assert.Equal(t, r.AgentSessionID, back.Record.AgentSessionID)
				assert.Equal(t, []string{"--resume", r.AgentSessionID.String(), "--permission-mode", "default"}, w.argvOf(back.Record))
				after, err := os.ReadFile(w.transcript(r.AgentSessionID))
				require.NoError(t, err)
				assert.Equal(t, before, after)
			})
		})
	}
}

// A repaired copy is another conversation with a new id, and the original stays.
func TestRepairedCopyIsResumed(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				damage.do(w, r)
				before, err := os.ReadFile(w.transcript(r.AgentSessionID))
				require.NoError(t, err)
				back, err := w.Restore(w.ctx, port.Restore{Session: r.ID, Damaged: port.UseCopy})
				require.NoError(t, err)
				got := back.Record
				require.NotEqual(t, r.AgentSessionID, got.AgentSessionID)
				assert.Equal(t, []uuid.UUID{r.AgentSessionID}, got.EarlierSessionIDs)
				assert.Equal(t, []string{"--resume", got.AgentSessionID.String(), "--permission-mode", "default"}, w.argvOf(got))
				after, err := os.ReadFile(w.transcript(r.AgentSessionID))
				require.NoError(t, err)
				assert.Equal(t, before, after, "the original stays as it is")
				end, err := jsonl.End(w.transcript(got.AgentSessionID))
				require.NoError(t, err)
				assert.Equal(t, append(r.Cursors, end), got.Cursors, "what the copy begins with was shown before")
				health, err := transcript.Check(filepath.Join(w.base, "projects"), got.AgentSessionID)
				require.NoError(t, err)
				assert.Empty(t, health.Faults)

				w.hook(got, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "resume" })
				w.pass(time.Second)
				assert.Equal(t, session.Running, w.get(r.ID).State)
				assert.Len(t, w.get(r.ID).Cursors, len(r.Cursors)+1)
			})
		})
	}
}

func TestHealthyTranscriptIsNotCopied(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		back, err := w.Restore(w.ctx, port.Restore{Session: r.ID, Damaged: port.UseCopy})
		require.NoError(t, err)
		assert.Equal(t, r.AgentSessionID, back.Record.AgentSessionID)
	})
}

// Claude Code neither resumes such an id nor begins a conversation with it.
func TestEmptyTranscript(t *testing.T) {
	tests := []struct {
		name    string
		content string
		damaged port.Damaged
		asks    bool // refused with a TranscriptError
		anew    bool // otherwise resumed unchanged
	}{
		{"bookkeeping only", titleLine + "\n" + costLine + "\n", askFirst, false, true},
		{"empty", "", askFirst, false, true},
		{"NULs only", "\x00\x00\x00\x00", askFirst, true, false},
		{"NULs only, a copy", "\x00\x00\x00\x00", port.UseCopy, false, true},
		{"NULs only, as it is", "\x00\x00\x00\x00", port.UseAsItIs, false, false},
		{"half a line only", assistantLine[:40], askFirst, true, false},
		{"half a line only, a copy", assistantLine[:40], port.UseCopy, false, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				path := w.transcript(r.AgentSessionID)
				require.NoError(t, os.WriteFile(path, []byte(tc.content), 0o600))
				w.archive(r)
				r = w.get(r.ID)
				back, err := w.Restore(w.ctx, port.Restore{Session: r.ID, Damaged: tc.damaged})
				kept, readErr := os.ReadFile(path)
				require.NoError(t, readErr)
				assert.Equal(t, tc.content, string(kept))
				if tc.asks {
					var e *TranscriptError
					require.ErrorAs(t, err, &e)
					assert.NotEmpty(t, e.Health.Faults)
					assert.Equal(t, r, w.get(r.ID))
					return
				}
				require.NoError(t, err)
				if !tc.anew {
					assert.Equal(t, []string{"--resume", r.AgentSessionID.String(), "--permission-mode", "default"}, w.argvOf(back.Record))
					return
				}
				assert.Equal(t, []uuid.UUID{r.AgentSessionID}, back.Record.EarlierSessionIDs)
				assert.Equal(t, []string{"--session-id", back.Record.AgentSessionID.String()}, w.argvOf(back.Record))
			})
		})
	}
}

// A conversation that has lost its messages is not silently started again.
func TestLostTranscriptNeedsDecision(t *testing.T) {
	for _, left := range []string{"nothing", "an empty file"} {
		t.Run(left, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				path := w.transcript(r.AgentSessionID)
				require.NoError(t, os.Truncate(path, 0))
				if left == "nothing" {
					require.NoError(t, os.Remove(path))
				}
				_, err := w.restoreIt(r.ID)
				var lost *TranscriptError
				require.ErrorAs(t, err, &lost)
				assert.True(t, lost.Nothing)
				assert.Equal(t, left == "nothing", refusal.Is(err, refusal.Deleted))
				assert.Empty(t, w.tmux.windows())
				back, err := w.Restore(w.ctx, port.Restore{Session: r.ID, Damaged: port.UseCopy})
				require.NoError(t, err)
				assert.NotEqual(t, r.AgentSessionID, back.Record.AgentSessionID)
			})
		})
	}
}

func TestUnreadableTranscriptRefuses(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		path := w.transcript(r.AgentSessionID)
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink(path, path)) // a loop
		_, err := w.restoreIt(r.ID)
		require.Error(t, err)
		assert.Equal(t, r, w.get(r.ID))
		assert.Empty(t, w.tmux.windows())
	})
}

// ---- forks

func TestForkStartsWithCopy(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		original := w.archived()
		w.processes.StartNow(777, resume(original.AgentSessionID)) // the reason to fork
		q := w.request()
		q.ForkOf = original.AgentSessionID
		r, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		assert.Equal(t, original.AgentSessionID, r.ForkOf)
		require.NotEqual(t, original.AgentSessionID, r.AgentSessionID)
		assert.Equal(t, []string{"--resume", original.AgentSessionID.String(), "--fork-session", "--session-id", r.AgentSessionID.String(),
			"--permission-mode", "default"}, w.argvOf(r))

		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source, e.TranscriptSize = "fork", 17 })
		w.pass(time.Second)
		got := w.get(r.ID)
		assert.Equal(t, session.Running, got.State)
		assert.Equal(t, original.AgentSessionID, got.ForkOf)
		c, _ := got.Cursor()
		assert.Equal(t, talk.Cursor{Path: w.transcript(r.AgentSessionID), Offset: 17}, c, "what the copy begins with is history")
		w.pass(time.Hour)
		assert.Zero(t, w.news.seconds(), "neither writes the other's conversation")
	})
}

// A crash between the window of a fork and its record.
func TestP8_BindFindsForksWindow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		original := w.archived()
		q := w.request()
		q.ForkOf = original.AgentSessionID
		r, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		w.restart()
		w.edit(r.ID, func(r *session.Record) { r.Binding = nil })
		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		assert.Equal(t, r.Binding.Agent, w.get(r.ID).Binding.Agent)
	})
}

func TestForkOfNothingStartsNew(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		q := w.request()
		q.ForkOf = uuid.New()
		r, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		assert.Equal(t, []string{"--session-id", r.AgentSessionID.String()}, w.argvOf(r))
	})
}

func TestRestoreOfFork(t *testing.T) {
	tests := []struct {
		name string
		life func(w *world, r session.Record)
		want func(original, fork session.Record) []string
	}{
		{"in which nothing was said begins with the copy again", func(*world, session.Record) {},
			func(original, fork session.Record) []string {
				return []string{"--resume", original.AgentSessionID.String(), "--fork-session", "--session-id", fork.AgentSessionID.String()}
			}},
		{"that was only opened and left does so under another id", func(w *world, r session.Record) { w.write(r, titleLine) },
			func(original, fork session.Record) []string {
				return []string{"--resume", original.AgentSessionID.String(), "--fork-session", "--session-id", fork.AgentSessionID.String()}
			}},
		{"that has a transcript of its own is resumed", func(w *world, r session.Record) { w.write(r, userLine("hello")) },
			func(_, fork session.Record) []string { return []string{"--resume", fork.AgentSessionID.String()} }},
		{"that was cleared does not begin with the copy again", func(w *world, r session.Record) {
			cleared := uuid.New()
			w.present(r, cleared)
			w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) {
				e.SessionID, e.TranscriptPath, e.Source = cleared.String(), w.transcript(cleared), "clear"
			})
		}, func(_, fork session.Record) []string { return []string{"--session-id", fork.AgentSessionID.String()} }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				original := w.archived()
				q := w.request()
				q.ForkOf = original.AgentSessionID
				r, err := w.Start(w.ctx, q)
				require.NoError(t, err)
				w.report(r)
				w.pass(time.Second)
				tc.life(w, r)
				w.archive(w.get(r.ID))
				back, err := w.restoreIt(r.ID)
				require.NoError(t, err)
				assert.Equal(t, append(tc.want(original, back), "--permission-mode", "default"), w.argvOf(back))
			})
		})
	}
}

// A restore interrupted before its window continues when it is requested again: in the window if it
// exists, otherwise in a new one. No process that came to the conversation in between is ended.
func TestP1_InterruptedRestoreContinues(t *testing.T) {
	cut := func(w *world, point string) session.Record {
		r := w.archived()
		w.pass(time.Second)
		w.crash(point, func() { _, _ = w.restoreIt(r.ID) })
		return w.get(r.ID)
	}
	t.Run("no window was made", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			r := cut(w, "restore-recorded")
			windows := len(w.tmux.windows()) + 1
			require.True(t, r.Interrupted())
			r, err := w.restoreIt(r.ID)
			require.NoError(t, err)
			assert.NotNil(t, r.Binding)
			assert.Equal(t, session.Archived, r.RestoredFrom)
			assert.Len(t, w.tmux.windows(), windows)
			_, err = w.restoreIt(r.ID)
			var open *StateError
			require.ErrorAs(t, err, &open)
		})
	})
	t.Run("the window was made", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			r := cut(w, "window-made")
			windows := len(w.tmux.windows())
			require.True(t, r.Interrupted())
			r, err := w.restoreIt(r.ID)
			require.NoError(t, err)
			assert.NotNil(t, r.Binding)
			assert.Len(t, w.tmux.windows(), windows)
		})
	})
	t.Run("a person goes on at the desk", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			r := cut(w, "restore-recorded")
			desk := w.tmux.byHand(resume(r.AgentSessionID)...)
			w.pass(time.Second)
			_, err := w.restoreIt(r.ID)
			var refused *WriterError
			require.ErrorAs(t, err, &refused)
			assert.True(t, w.processes.Alive(desk.id))
		})
	})
}

// A person who resumes a session during its end need not try again: the end comes first, then the
// restore.
func TestP1_ResumeWaitsForRunningEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.edit(r.ID, func(r *session.Record) { r.State, r.Final = session.Stopping, session.Archived })
		back, err := w.Restore(w.ctx, port.Restore{Session: r.ID})
		require.NoError(t, err)
		assert.Equal(t, []process.Identity{a.id}, w.processes.Signalled())
		assert.Equal(t, session.Restoring, back.Record.State)
		assert.Equal(t, 1, toldOf[ending.Receipt](w.news))
		w.pass(10 * time.Second)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.NotEqual(t, a.id, w.get(r.ID).Binding.Agent)
	})
}

// A restore begins a new run: nothing of the previous one is in the record when the window is made.
func TestRestoreBeginsNewRun(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.edit(r.ID, func(r *session.Record) {
			at := time.Now().UTC()
			r.Run = session.Run{Exit: &session.Exit{At: at}, StartedAt: at, ReportsAt: at, ReadyAt: at, Phase: "limit_reached", PhaseAt: at,
				PhaseWhat: "until noon", PhaseUntil: at}
			r.Closing = session.Closing{Cleanup: &session.CleanupError{}, ClosedReason: session.ClosedReboot, Unreported: true}
		})
		w.pass(time.Minute)
		var begun session.Record
		w.order.onPoint(func(name string) {
			if name == "restore-recorded" {
				begun = w.get(r.ID)
			}
		})
		_, err := w.restoreIt(r.ID)
		w.order.onPoint(nil)
		require.NoError(t, err)
		assert.Equal(t, session.Run{StartedAt: time.Now().UTC()}, begun.Run)
		assert.Zero(t, begun.Closing)
	})
}
