package recovery

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// A session that ended while the bot did not run has ended when the recovery returns.
func TestP8_EndedSessionClosesWithoutBot(t *testing.T) {
	tests := []struct {
		name     string
		state    session.State
		end      func(m *machine, r session.Record)
		want     session.State
		reported string
	}{
		{"its pane is dead", session.Running, paneDead, session.Completed, "news.Ended"},
		{"before it was ready", session.Starting, paneDead, session.Failed, "news.Failed"},
		{"in a person's shell", session.Running, backInTheShell, session.Completed, "news.Ended"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(t)
			r := m.start(func(r *session.Record) { r.State = tc.state })
			tc.end(m, r)
			m.restart()
			before := len(m.get(r.ID).History)
			actions := m.recover()
			require.Len(t, actions, 1)
			assert.Equal(t, lifecycle.Conclude, actions[0].Do)
			got := m.get(r.ID)
			assert.Equal(t, tc.want, got.State)
			assert.NotNil(t, got.Exit)
			assert.Nil(t, got.Binding)
			assert.Equal(t, 1, m.backups)
			lines := rules(got)[before:]
			assert.Equal(t, session.Rule("recovery.conclude"), lines[0])
			assert.Equal(t, "done", lastLine(got).Why)
			assert.Contains(t, m.reported, tc.reported)
			assert.Empty(t, m.recover())
			assert.Equal(t, 1, m.backups)
		})
	}
}

func paneDead(m *machine, r session.Record) {
	m.processes.Exit(r.Binding.Agent.PID)
	m.tmux.End(m.paneOf(r), tmuxtest.Exit{Status: 1})
}

// backInTheShell is an adopted agent that a person has ended: its shell stays.
func backInTheShell(m *machine, r session.Record) {
	shell := m.tmux.AddWindow("desk", "notes")
	m.runs(shell.PID, []string{"zsh"})
	m.change(r.ID, func(r *session.Record) {
		r.Binding.Adopted, r.Binding.Shell = true, shell.PID
		r.Binding.Pane, r.Binding.Window = shell.ID.String(), shell.Window.String()
	})
	m.processes.Exit(r.Binding.Agent.PID)
}

// `ccbot recover` during a run of the bot: the bot's own launch is not the remains of a crash, at
// any of its points.
func TestP8_RunningStartIsLeftAlone(t *testing.T) {
	for _, state := range []session.State{session.Starting, session.Restoring} {
		t.Run(string(state), func(t *testing.T) {
			m := newMachine(t)
			m.recover()
			m.now = noon.Add(time.Minute)
			r := record(state, nil)
			r.StartedAt = m.now
			require.NoError(t, m.store.Create(r))
			assert.Empty(t, m.recover(), "its window is not there yet")

			window := m.tmux.AddWindow(m.Session, "api")
			m.tmux.Change(window.ID, func(p *tmux.Pane) { p.Tag = tagOf(r) })
			m.runs(window.PID, []string{"claude", "--session-id", r.AgentSessionID.String()})
			assert.Empty(t, m.recover(), "its window is not in its record yet")
			assert.Equal(t, r.History, m.get(r.ID).History)
			assert.Zero(t, m.backups)

			m.restart() // a crash: now it is
			assert.Equal(t, lifecycle.Bind, m.recover()[0].Do)
			assert.NotNil(t, m.get(r.ID).Binding)
		})
	}
}

func TestP8_RunningActions(t *testing.T) {
	tests := []struct {
		name           string
		since, started time.Time
		want           lifecycle.Do
	}{
		{"launched before", noon.Add(-time.Minute), noon.Add(-time.Hour), lifecycle.Discard},
		{"at that moment", noon.Add(-time.Minute), noon.Add(-time.Minute), lifecycle.Discard},
		{"launched since", noon.Add(-time.Minute), noon.Add(-time.Second), ""},
		{"by a clock that was set back", noon.Add(-time.Minute), noon.Add(time.Hour), lifecycle.Discard},
		{"by nobody who only looks", time.Time{}, noon.Add(-time.Second), lifecycle.Discard},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := record(session.Starting, nil)
			r.StartedAt = tc.started
			w := world(r, process.Unknown)
			w.Since = tc.since
			assert.Equal(t, tc.want, only(t, w).Do)
		})
	}
}

// The launch has ended and its pane is closed; a shell that a person split off has
// the tag of the window, and is not bound.
func TestP8_ShellInLaunchWindowIsReleased(t *testing.T) {
	for state, want := range map[session.State]lifecycle.Do{session.Starting: lifecycle.Discard, session.Restoring: lifecycle.Fail} {
		t.Run(string(state), func(t *testing.T) {
			m := newMachine(t)
			r := m.start(func(r *session.Record) { r.State, r.Binding = state, nil })
			m.closeTagged(r)
			shell := m.tmux.AddWindow(m.Session, "api")
			m.tmux.Change(shell.ID, func(p *tmux.Pane) { p.Tag = tagOf(r) })
			m.runs(shell.PID, []string{"bash"})
			m.now = noon.Add(time.Hour)
			m.restart()
			calls := m.changes()
			actions := m.recover()
			require.Len(t, actions, 1)
			assert.Equal(t, want, actions[0].Do)
			assert.Empty(t, m.lines("recovery_failed"))
			assert.Empty(t, m.recover())
			assert.Equal(t, calls, m.changes(), "the shell stays")
		})
	}
}

func TestP2_BindTakesLaunchPane(t *testing.T) {
	r := record(session.Restoring, nil)
	tag := tagged(tagOf(r))
	in := func(window int) func(*tmux.Pane) { return func(p *tmux.Pane) { p.Window = windowID(window) } }
	first, second, later := pane(5, tag), pane(6, tag, in(5)), pane(9, tag)
	tests := []struct {
		name  string
		holds map[tmux.PaneID]bool
		want  string // empty: none
	}{
		{"nobody sees what they hold", nil, "%9"},
		{"the last of several", map[tmux.PaneID]bool{first.ID: true, second.ID: false, later.ID: true}, "%9"},
		{"the last holds another", map[tmux.PaneID]bool{first.ID: true, second.ID: false, later.ID: false}, "%5"},
		{"a pane was joined before it", map[tmux.PaneID]bool{first.ID: false, second.ID: true, later.ID: false}, "%6"},
		{"what is seen comes before what is not", map[tmux.PaneID]bool{first.ID: true}, "%5"},
		{"none", map[tmux.PaneID]bool{first.ID: false, second.ID: false, later.ID: false}, ""},
		{"a second pane that nobody sees into", map[tmux.PaneID]bool{first.ID: false, later.ID: false}, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			w := world(r, process.Unknown, later, second, first)
			w.Holds = tc.holds
			a := only(t, w)
			if tc.want == "" {
				assert.Equal(t, lifecycle.Fail, a.Do)
				return
			}
			assert.Equal(t, lifecycle.Bind, a.Do)
			assert.Equal(t, tc.want, a.Pane.ID.String())
		})
	}
}

// A conversation that comes back while a Run is under way moves its session only after the backup
// of the records, and the report contains the move.
func TestBackupComesBeforeAConversationMoves(t *testing.T) {
	m := newMachine(t)
	lost := m.lost(time.Hour)
	stale := m.change(m.lost(9*day).ID, func(r *session.Record) { r.AgentSessionID = lost.AgentSessionID })
	agent := m.inTerminal(lost.AgentSessionID)
	m.restart()
	m.Events = func(context.Context) error { m.came(arrival{agent, lost.AgentSessionID}); return nil }
	m.Notify = func(context.Context, Report) error { t.Error("the report of the Run tells it"); return nil }
	m.Backup = func(ctx context.Context) (string, error) {
		assert.Len(t, m.store.List(), 2)
		assert.Equal(t, session.Lost, m.get(stale.ID).State)
		return m.backUp(ctx)
	}
	report, err := m.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, m.backups)
	assert.NotEmpty(t, report.Backup)
	did := map[uuid.UUID]lifecycle.Do{}
	for _, r := range report.Results {
		did[r.Action.Record] = r.Action.Do
		assert.NotEmpty(t, r.Action.Why)
		assert.NotEmpty(t, r.Action.Evidence)
	}
	assert.Equal(t, map[uuid.UUID]lifecycle.Do{lost.ID: TakeOver, stale.ID: SetAside}, did)
	report, err = m.Run(t.Context())
	require.NoError(t, err)
	assert.Empty(t, report.Backup)
}

func TestP8_WithoutABackupNoConversationMoves(t *testing.T) {
	m := newMachine(t)
	lost := m.lost(time.Hour)
	agent := m.inTerminal(lost.AgentSessionID)
	m.restart()
	before := m.onDisk()
	m.Backup = func(context.Context) (string, error) { return "", errDisk }
	m.Events = func(ctx context.Context) error {
		assert.False(t, m.Came(ctx, arrival{agent, lost.AgentSessionID}.writer()), "the next look tries again")
		return nil
	}
	_, err := m.Run(t.Context())
	require.NoError(t, err, "nothing else had to change")
	assert.Len(t, m.lines("resume_unclear"), 1)
	assert.Equal(t, before, m.onDisk())
}

// Without a Run the records were backed up at the start, and no backup is made again.
func TestLaterReturnNeedsNoBackup(t *testing.T) {
	m := newMachine(t)
	m.recover()
	lost := m.lost(time.Hour)
	m.came(arrival{m.inTerminal(lost.AgentSessionID), lost.AgentSessionID})
	assert.Equal(t, session.Running, m.get(lost.ID).State)
	assert.Zero(t, m.backups)
}

// A running session that is set aside while the bot runs is reported then, and not at the next
// start.
func TestLaterQuarantineIsReported(t *testing.T) {
	for name, broken := range map[string]error{"told": nil, "Telegram's outbox is full": errDisk} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			fresh, old := m.lost(time.Hour), m.start(running)
			m.lose(old)
			m.change(old.ID, func(r *session.Record) {
				long := noon.Add(-9 * day)
				r.AgentSessionID, r.CreatedAt, r.StartedAt, r.Binding.BoundAt = fresh.AgentSessionID, long, long, long
			})
			var reported []Report
			m.Notify = func(_ context.Context, r Report) error {
				assert.True(t, m.moving.TryLock(), "others need not wait for it")
				m.moving.Unlock()
				assert.True(t, m.get(old.ID).Unreported)
				reported = append(reported, r)
				return broken
			}
			a := arrival{m.inTerminal(fresh.AgentSessionID), fresh.AgentSessionID}
			outcome, _ := m.came(a)
			assert.Equal(t, sessionResumed, outcome)
			assert.Equal(t, session.Abandoned, m.get(old.ID).State)
			require.Len(t, reported, 1)
			require.Len(t, reported[0].Results, 2)
			assert.Equal(t, SetAside, reported[0].Results[0].Action.Do)
			assert.Equal(t, old.ID, reported[0].Results[0].Action.Record)
			m.came(a)
			assert.Len(t, reported, 1)
		})
	}
}

// A move alone the lifecycle tells.
func TestMoveIsReportedOnce(t *testing.T) {
	m := newMachine(t)
	lost := m.lost(time.Hour)
	m.Notify = func(context.Context, Report) error { t.Error("it is told twice"); return nil }
	m.came(arrival{m.inTerminal(lost.AgentSessionID), lost.AgentSessionID})
	assert.Contains(t, m.reported, "news.Transferred")
}

// An interrupted recovery also reports what it has done.
func TestCancelledRecoveryReportsActions(t *testing.T) {
	m := newMachine(t)
	r := m.start(running)
	m.lose(r)
	m.restart()
	ctx, stop := context.WithCancel(t.Context())
	m.Failpoint = func(point string) {
		if point == "recovery-applied" {
			stop()
		}
	}
	report, err := m.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, report.Results, 1)
	assert.Equal(t, r.ID, report.Results[0].Action.Record)
	assert.NotEmpty(t, report.Backup)
	assert.Equal(t, map[session.State]int{session.Lost: 1}, report.States)
}
