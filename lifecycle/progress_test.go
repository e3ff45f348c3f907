package lifecycle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/git"
	"ccbot/internal/session"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/talk"
	"ccbot/tmux/tmuxtest"
)

// repository is git's answer for every directory.
type repository struct {
	mu    sync.Mutex
	state *git.State
	err   error
	slow  time.Duration
	dirs  []string // directories that were read
	wide  int      // most looks at a time
	now   int
}

func (r *repository) look(ctx context.Context, dir string) (*git.State, error) {
	r.mu.Lock()
	r.dirs = append(r.dirs, dir)
	r.now++
	r.wide = max(r.wide, r.now)
	slow := r.slow
	r.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(slow):
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now--
	if r.state == nil || r.err != nil {
		return nil, r.err
	}
	state := *r.state
	state.At = time.Now()
	return &state, nil
}

func (r *repository) set(change func(*repository)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

func (r *repository) looked() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.dirs)
}

// saves counts how often a record was put on disk: each time it is dated once.
type saves struct {
	mu    sync.Mutex
	count int
}

func (s *saves) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return time.Now()
}

// of counts the saves while something happens.
func (s *saves) of(do func()) int {
	s.mu.Lock()
	before := s.count
	s.mu.Unlock()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count - before
}

const (
	turnEndLine  = `{"type":"system","subtype":"turn_duration","timestamp":"2026-03-04T12:00:00Z"}`
	planModeLine = `{"type":"permission-mode","permissionMode":"plan"}`
)

// becomes changes the agent's activity and its presence file.
func (w *world) becomes(a *agent, s presence.Status) {
	a.set(func(a *agent) { a.status, a.since = s, time.Now() })
	w.WakeAgent(a.id.PID)
	synctest.Wait()
}

// settled is a session that has been running for a while.
func (w *world) settled() (session.Record, *agent) {
	w.t.Helper()
	r, a := w.started()
	w.pass(time.Minute)
	return w.get(r.ID), a
}

func TestPhaseChangeSavesState(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		require.Equal(t, string(talk.PhaseIdle), r.Phase)
		steps := []struct {
			status presence.Status
			why    string
			want   talk.Phase
		}{
			{presence.Busy, "", talk.PhaseWorking},
			{presence.Waiting, "permission prompt", talk.PhaseWaitingPermission},
			{presence.Busy, "", talk.PhaseWorking},
			{presence.Waiting, "input needed", talk.PhaseWaitingAnswer},
			{presence.Busy, "", talk.PhaseWorking},
			{presence.Idle, "", talk.PhaseIdle},
		}
		for _, s := range steps {
			since := time.Now()
			a.set(func(a *agent) { a.waitingFor = s.why })
			saved := w.saves.of(func() {
				w.becomes(a, s.status)
				w.pass(10 * time.Minute)
			})
			now := w.get(r.ID)
			assert.Equal(t, string(s.want), now.Phase)
			assert.True(t, now.PhaseAt.Equal(since), "%s is since %s", s.want, now.PhaseAt.Sub(since))
			assert.Equal(t, 1, saved, "%s is one save", s.want)
		}
	})
}

// The end of a turn is one save, with all that it leaves: the transcript's last
// lines and the status line come a little after the agent is idle.
func TestTurnStateIsOneSave(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.git.set(func(r *repository) { r.state = &git.State{Root: "/src", Branch: "main", Head: "1"} })
		r, a := w.settled()
		require.Equal(t, "1", r.GitStart.Head)
		w.becomes(a, presence.Busy)
		w.pass(time.Minute)
		w.git.set(func(r *repository) { r.state = &git.State{Root: "/src", Branch: "main", Head: "2", Dirty: true} })
		saved := w.saves.of(func() {
			w.becomes(a, presence.Idle)
			w.pass(200 * time.Millisecond)
			w.write(r, assistantLine)
			w.write(r, turnEndLine)
			w.pass(200 * time.Millisecond)
			w.status.notify(r, 12, 0.5)
			w.pass(time.Hour)
		})
		assert.Equal(t, 1, saved)
		now := w.get(r.ID)
		assert.Equal(t, string(talk.PhaseIdle), now.Phase)
		assert.Equal(t, 1, now.Progress.Turns)
		assert.Equal(t, time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), now.Progress.LastTurnAt)
		assert.Equal(t, w.transcript(r.AgentSessionID), now.Progress.Path)
		assert.InDelta(t, 12, now.Usage.Context, 0)
		assert.Equal(t, "2", now.GitNow.Head)
		assert.True(t, now.GitNow.Dirty)
		assert.Equal(t, "1", now.GitStart.Head, "the start stays")
	})
}

// A turn that no person saw has left a new presence file.
func TestStateOfVeryShortTurn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.write(r, turnEndLine)
		saved := w.saves.of(func() {
			w.becomes(a, presence.Idle)
			w.pass(time.Hour)
		})
		assert.Equal(t, 1, saved)
		assert.Equal(t, 1, w.get(r.ID).Progress.Turns)
	})
}

// If the next prompt follows immediately, the agent is never seen idle for long.
func TestStateOfFollowedTurn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.becomes(a, presence.Busy)
		w.pass(time.Minute)
		w.write(r, turnEndLine)
		saved := w.saves.of(func() {
			w.becomes(a, presence.Idle)
			w.pass(100 * time.Millisecond)
			w.becomes(a, presence.Busy)
			w.pass(10 * time.Minute)
		})
		assert.Equal(t, 1, saved)
		now := w.get(r.ID)
		assert.Equal(t, string(talk.PhaseWorking), now.Phase)
		assert.Equal(t, 1, now.Progress.Turns)
		assert.InDelta(t, 10*time.Minute, time.Since(now.PhaseAt), float64(time.Second))
	})
}

func TestUnchangedStateIsNotSaved(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world, r session.Record, a *agent)
	}{
		{"nothing happens", func(w *world, r session.Record, _ *agent) { w.Wake(r.ID) }},
		{"a torn presence file", func(w *world, r session.Record, a *agent) {
			a.set(func(a *agent) { a.unreadable = errors.New("torn") })
			w.Wake(r.ID)
			w.pass(time.Minute)
			a.set(func(a *agent) { a.unreadable = nil })
			w.Wake(r.ID)
		}},
		{"tmux does not answer", func(w *world, r session.Record, _ *agent) {
			w.tmux.Fail("Pane", errors.New("busy"))
			w.Wake(r.ID)
		}},
		{"nobody knows whether the agent lives", func(w *world, r session.Record, _ *agent) {
			w.processes.HideLiveness(true)
			w.Wake(r.ID)
			w.pass(time.Minute)
			w.processes.HideLiveness(false)
			w.Wake(r.ID)
		}},
		{"bookkeeping in the transcript", func(w *world, r session.Record, a *agent) {
			w.write(r, titleLine)
			w.becomes(a, presence.Idle)
		}},
		{"a presence file that says the same", func(w *world, _ session.Record, a *agent) { w.becomes(a, presence.Idle) }},
		{"git says the same", func(w *world, _ session.Record, a *agent) {
			w.becomes(a, presence.Idle)
			w.pass(time.Minute)
			w.becomes(a, presence.Idle)
		}},
		{"git does not say", func(w *world, _ session.Record, a *agent) {
			w.git.set(func(r *repository) { r.err = errors.New("late") })
			w.becomes(a, presence.Idle)
		}},
		{"the transcript cannot be read", func(w *world, r session.Record, a *agent) {
			path := w.transcript(r.AgentSessionID)
			require.NoError(w.t, os.Remove(path))
			require.NoError(w.t, os.Mkdir(path, 0o700))
			w.becomes(a, presence.Idle)
		}},
		{"ccbot is started again", func(w *world, _ session.Record, _ *agent) {
			w.restart()
			w.comeBack()
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.git.set(func(r *repository) { r.state = &git.State{Root: "/src", Head: "1"} })
				r, a := w.settled()
				w.write(r, turnEndLine)
				w.becomes(a, presence.Idle)
				w.pass(time.Minute)
				r = w.get(r.ID)
				require.Equal(t, 1, r.Progress.Turns)
				saved := w.saves.of(func() {
					tc.do(w, r, a)
					w.pass(10 * time.Minute)
				})
				assert.Zero(t, saved)
				assert.Equal(t, r.UpdatedAt, w.get(r.ID).UpdatedAt)
			})
		})
	}
}

// In the middle of a turn only its phases are noted.
func TestStateIsNotSavedWithinPhase(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.becomes(a, presence.Busy)
		w.pass(time.Minute)
		looked := w.git.looked()
		saved := w.saves.of(func() {
			for range 20 {
				w.write(r, assistantLine)
				w.status.notify(r, 12, 0.5)
				w.becomes(a, presence.Busy)
				w.pass(time.Second)
			}
		})
		assert.Zero(t, saved)
		assert.Equal(t, looked, w.git.looked())
	})
}

// An end during ccbot's absence is found when it returns.
func TestP8_StateIsFoundAfterARestart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.becomes(a, presence.Busy)
		w.pass(time.Minute)
		w.restart()
		w.write(r, turnEndLine)
		a.set(func(a *agent) { a.status, a.since = presence.Idle, time.Now() })
		w.git.set(func(r *repository) { r.state = &git.State{Root: "/src", Head: "2"} })
		saved := w.saves.of(func() {
			w.comeBack()
			w.pass(time.Hour)
		})
		assert.Equal(t, 1, saved)
		now := w.get(r.ID)
		assert.Equal(t, string(talk.PhaseIdle), now.Phase)
		assert.Equal(t, 1, now.Progress.Turns)
		assert.Equal(t, "2", now.GitNow.Head)
		assert.Nil(t, now.GitStart, "there was none when it began")
	})
}

// A note that could not be saved is saved later.
func TestUnsavedStateIsSavedLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		dir := filepath.Join(w.base, "state", "sessions")
		for _, phase := range []presence.Status{presence.Busy, presence.Idle} {
			require.NoError(t, os.Rename(dir, dir+".away"))
			require.NoError(t, os.WriteFile(dir, nil, 0o600)) // no record can be put there
			w.write(r, turnEndLine)
			w.becomes(a, phase)
			w.pass(10 * time.Second)
			before := w.get(r.ID)
			require.NoError(t, os.Remove(dir))
			require.NoError(t, os.Rename(dir+".away", dir))
			w.pass(10 * time.Minute)
			now := w.get(r.ID)
			assert.NotEqual(t, before.Phase, now.Phase)
			assert.Equal(t, before.Progress.Turns+1, now.Progress.Turns)
		}
	})
}

// The agent ends, and what its transcript says last is kept with the record.
func TestStateIsKeptAtTheEnd(t *testing.T) {
	ends := map[string]func(w *world, r session.Record, a *agent){
		"archived": func(w *world, r session.Record, _ *agent) {
			require.NoError(w.t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		},
		"ended by itself": func(w *world, _ session.Record, a *agent) { w.tmux.die(a, tmuxtest.Exit{}) },
		"lost": func(w *world, _ session.Record, a *agent) {
			w.processes.Exit(a.id.PID)
			w.tmux.ClosePaneByHand(a.pane)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.settled()
				w.becomes(a, presence.Busy)
				w.pass(time.Minute)
				w.write(r, turnEndLine)
				w.write(r, planModeLine) // Claude Code notes it at its end
				end(w, r, a)
				w.pass(10 * time.Second)
				now := w.get(r.ID)
				require.False(t, now.State.Live(), now.State)
				assert.Equal(t, string(talk.PhaseWorking), now.Phase, "what it was last seen doing")
				assert.Equal(t, 1, now.Progress.Turns)
				assert.Equal(t, "plan", now.Progress.PermissionMode)
			})
		})
	}
}

// Another conversation in the same window is counted again.
func TestProgressFollowsTheConversation(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.write(r, turnEndLine)
		w.becomes(a, presence.Idle)
		w.pass(time.Minute)
		require.Equal(t, 1, w.get(r.ID).Progress.Turns)
		cleared := w.get(r.ID)
		cleared.AgentSessionID = uuid.New()
		w.edit(r.ID, func(r *session.Record) {
			r.AgentSessionID = cleared.AgentSessionID
			r.Cursors = append(r.Cursors, talk.Cursor{Path: w.transcript(cleared.AgentSessionID)})
		})
		w.write(cleared, userLine("after it"))
		w.becomes(a, presence.Idle)
		w.pass(time.Minute)
		p := w.get(r.ID).Progress
		assert.Zero(t, p.Turns)
		assert.Equal(t, w.transcript(cleared.AgentSessionID), p.Path)
	})
}

// ---- git

func TestStartWaitsForGitOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.git.set(func(r *repository) { r.state = &git.State{Root: "/src", Branch: "main"} })
		r, _ := w.starting()
		assert.Equal(t, []string{w.request().Dir}, w.git.dirs)
		require.NotNil(t, r.GitStart)
		assert.Equal(t, "main", r.GitStart.Branch)
		assert.Equal(t, r.GitStart, r.GitNow)
	})
}

func TestStartWithoutGitAnswer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.git.set(func(r *repository) { r.err = errors.New("late") })
		r, _ := w.started()
		w.pass(time.Minute)
		r = w.get(r.ID)
		assert.Nil(t, r.GitStart)
		assert.Nil(t, r.GitNow)
	})
}

// A git that takes long holds up neither a prompt nor anything else of the session.
func TestGitHoldsUpNoPrompt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.git.set(func(r *repository) { r.slow, r.state = time.Hour, &git.State{Root: "/src", Head: "2"} })
		w.becomes(a, presence.Busy)
		w.pass(time.Minute)
		w.held(r, "k", viewtest.Said)
		w.becomes(a, presence.Idle)
		w.pass(100 * time.Millisecond)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		require.NoError(t, w.Move(w.ctx, r.ID, session.Conversation{ChatID: 8}, port.AtOnce))
		w.pass(time.Minute)
		assert.Nil(t, w.get(r.ID).GitNow)
		w.pass(2 * time.Hour)
		assert.Equal(t, "2", w.get(r.ID).GitNow.Head, "it is kept when it comes")
	})
}

// After a restart all sessions need a check, and git runs one at a time.
func TestGitLooksAreOneByOne(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.git.set(func(r *repository) { r.slow = time.Second })
		for range 5 {
			w.started()
		}
		w.pass(time.Minute)
		w.git.set(func(r *repository) { r.wide, r.dirs = 0, nil })
		w.restart()
		w.comeBack()
		w.pass(time.Minute)
		assert.Equal(t, 5, w.git.looked())
		assert.Equal(t, 1, w.git.wide)
	})
}

func TestMissingRepository(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.git.set(func(r *repository) { r.state = &git.State{Root: "/src"} })
		r, a := w.settled()
		w.git.set(func(r *repository) { r.state = nil })
		w.becomes(a, presence.Idle)
		w.pass(time.Minute)
		assert.Nil(t, w.get(r.ID).GitNow)
		assert.NotNil(t, w.get(r.ID).GitStart)
	})
}

func TestWithoutGit(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.restart()
		w.Git = nil
		w.run()
		r, a := w.settled()
		w.becomes(a, presence.Busy)
		w.becomes(a, presence.Idle)
		w.pass(time.Minute)
		assert.Nil(t, w.get(r.ID).GitNow)
	})
}
