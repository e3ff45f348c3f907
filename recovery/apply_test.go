package recovery

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func TestP8_RunningRecoveryAgainChangesNothing(t *testing.T) {
	m := newMachine(t)
	alive := m.start(running)
	ended := m.start(running)
	m.processes.Exit(ended.Binding.Agent.PID)
	m.tmux.End(m.paneOf(ended), tmuxtest.Exit{Status: 1})
	lost := m.start(running)
	m.lose(lost)
	left := m.start(unbound)
	restoring := func(ago time.Duration) session.Record {
		r := m.start(func(r *session.Record) {
			r.State, r.Binding = session.Restoring, nil
			r.StartedAt = noon.Add(-ago)
		})
		m.closeTagged(r)
		return r
	}
	never, soon := restoring(time.Hour), restoring(time.Second)
	nothing := m.start(unbound)
	m.closeTagged(nothing)
	stopped := m.start(stopping)
	moved := m.start(running)
	m.lose(moved)
	agent := m.inTerminal(moved.AgentSessionID)
	m.restart()

	did := map[uuid.UUID]lifecycle.Do{}
	for _, a := range m.recover() {
		did[a.Record] = a.Do
	}
	assert.Equal(t, map[uuid.UUID]lifecycle.Do{alive.ID: lifecycle.Reattach, ended.ID: lifecycle.Conclude, lost.ID: lifecycle.MarkLost, left.ID: lifecycle.Bind, never.ID: lifecycle.Fail,
		soon.ID: lifecycle.FinishRestore, nothing.ID: lifecycle.Discard, stopped.ID: lifecycle.FinishStop, moved.ID: TakeOver}, did)
	assert.Empty(t, m.lines("recovery_failed"))
	assert.Equal(t, session.Running, m.get(alive.ID).State)
	assert.Equal(t, session.Lost, m.get(lost.ID).State)
	assert.True(t, m.get(lost.ID).Unreported)
	assert.NotNil(t, m.get(left.ID).Binding)
	assert.Equal(t, session.Failed, m.get(never.ID).State)
	assert.Equal(t, session.Restoring, m.get(soon.ID).State)
	assert.NotNil(t, m.get(soon.ID).Binding, "it goes on")
	_, ok := m.store.Get(nothing.ID)
	assert.False(t, ok, "its command comes again")
	assert.Equal(t, session.Completed, m.get(stopped.ID).State)
	target, ok := m.boundTo(agent)
	require.True(t, ok)
	assert.Equal(t, moved.ID, target.ID)
	assert.NotContains(t, m.reported, "news.Lost", "the report tells")
	assert.Len(t, m.lines("Dropping stale window_state"), 2)

	before, calls := m.onDisk(), m.changes()
	assert.Empty(t, m.recover())
	m.restart() // and after another kill -9
	m.recover()
	assert.Equal(t, before, m.onDisk())
	assert.Equal(t, calls, m.changes())
	assert.Empty(t, m.points, "nothing was written")
}

func TestP2_OrphanWindowIsWarnedOnce(t *testing.T) {
	m := newMachine(t)
	m.start(running)
	orphan := m.tmux.AddWindow(tmuxtest.Session, "notes")
	m.tmux.Split(orphan.ID)
	m.tmux.AddWindow(tmuxtest.Session, "ccbot-usage")
	m.tmux.AddWindow("work", "mine")
	foreign := m.tmux.AddWindow(tmuxtest.Session, "theirs")
	m.tmux.Change(foreign.ID, func(p *tmux.Pane) { p.Tag = "other/" + uuid.NewString() })
	m.restart()
	before := m.changes()
	m.recover()
	warned := m.lines("orphan_window")
	require.Len(t, warned, 1)
	delete(warned[0], "time")
	assert.Equal(t, map[string]any{"level": "WARN", "msg": "orphan_window", "window_id": orphan.Window.String(), "name": "notes",
		"session_id": "unknown", "note": "no Session record references it"}, warned[0])
	assert.Equal(t, before, m.changes(), "nothing is done to it")
	panes, err := m.tmux.Panes(t.Context())
	require.NoError(t, err)
	assert.Len(t, panes, 7)
}

// The log names the conversation that is written in an orphan window, if it is proven.
func TestP1_OrphanLogNamesConversation(t *testing.T) {
	m, claude := newMachine(t), uuid.New()
	m.start(running)
	window := m.tmux.AddWindow(tmuxtest.Session, "notes")
	m.presences.put(m.runs(window.PID, []string{"claude", "--resume", claude.String()}), claude)
	m.recover()
	warned := m.lines("orphan_window")
	require.Len(t, warned, 1)
	assert.Equal(t, claude.String(), warned[0]["session_id"])
}

// The socket of the tmux server was removed: no session ends, and none is lost, before the server's
// process has ended.
func TestP6_RemovedSocketIsNoEnd(t *testing.T) {
	m := newMachine(t)
	alive, ended := m.start(running), m.start(running)
	m.processes.Exit(ended.Binding.Agent.PID)
	for _, lost := range []func() func(){m.tmux.RemoveSocket, m.tmux.ReplaceServer} {
		found := lost()
		m.restart()
		assert.Empty(t, m.recover())
		_, notices := Plan(m.Collect(t.Context()))
		assert.Len(t, notices, 2)
		found()
	}
	m.stopServer()
	m.restart()
	m.recover()
	assert.Equal(t, session.Running, m.get(alive.ID).State)
	assert.Equal(t, session.Lost, m.get(ended.ID).State)
}

// After a tmux restart the ids begin again: another pane has the old one's.
func TestP2_ReusedIdsAreNotReattached(t *testing.T) {
	m := newMachine(t)
	r := m.start(running)
	m.processes.Exit(r.Binding.Agent.PID)
	m.stopServer()
	require.NoError(t, m.tmux.Ensure(t.Context()))
	for {
		p := m.tmux.AddWindow(tmuxtest.Session, "mine")
		if p.ID == m.paneOf(r) {
			m.runs(p.PID, []string{"bash"})
			break
		}
	}
	m.restart()
	m.recover()
	assert.Equal(t, session.Lost, m.get(r.ID).State)
	assert.Equal(t, session.ClosedTmux, m.get(r.ID).ClosedReason)
	assert.Empty(t, m.changes()[1:], "the other's pane is left alone")
	assert.NotEmpty(t, m.lines("orphan_window"))
}

func TestP6_SilentTmuxChangesNothing(t *testing.T) {
	for _, op := range []string{"Server", "Panes"} {
		t.Run(op, func(t *testing.T) {
			m := newMachine(t)
			m.start(running)
			m.start(unbound)
			m.start(stopping)
			gone := m.start(running)
			m.processes.Exit(gone.Binding.Agent.PID)
			m.restart()
			before, calls := m.store.List(), m.changes()
			m.Tmux = silent{m.tmux, op}
			_, err := m.Run(t.Context())
			require.NoError(t, err)
			assert.Equal(t, before, m.store.List())
			assert.Equal(t, calls, m.changes())
			assert.Zero(t, m.backups)
			assert.Len(t, m.lines("session_unclear"), 4)
			assert.NotEmpty(t, m.lines("tmux_unclear"))
			assert.Empty(t, m.reported)

			m.Tmux = m.tmux // it answers again
			m.recover()
			assert.Empty(t, m.lines("recovery_failed"))
			assert.NotEqual(t, before, m.store.List())
			assert.Equal(t, 1, m.backups)
		})
	}
}

// silent is a tmux that does not answer one question.
type silent struct {
	*tmuxtest.Fake
	op string
}

func (s silent) Server(ctx context.Context) (tmux.ServerID, error) {
	if s.op == "Server" {
		return tmux.ServerID{}, tmux.ErrLost
	}
	return s.Fake.Server(ctx)
}

func (s silent) Panes(ctx context.Context) ([]tmux.Pane, error) {
	if s.op == "Panes" {
		return nil, tmux.ErrLost
	}
	return s.Fake.Panes(ctx)
}

// An action that fails leaves its record as it is; the others continue.
func TestP8_FailedActionStopsNoOthers(t *testing.T) {
	m := newMachine(t)
	broken := m.start(unbound)
	other := m.start(unbound)
	m.closeTagged(other)
	m.restart()
	agent := m.tagged(broken)[0].PID
	m.processes.Hide(agent, errors.New("/proc is not readable"))
	m.recover()
	assert.Len(t, m.lines("recovery_failed"), 1)
	assert.Nil(t, m.get(broken.ID).Binding)
	assert.Equal(t, session.Starting, m.get(broken.ID).State)
	history := m.get(broken.ID).History
	assert.Contains(t, history[len(history)-1].Why, "failed: bind: inspect process")
	_, ok := m.store.Get(other.ID)
	assert.False(t, ok)
	m.processes.Hide(agent, nil)
	m.recover()
	assert.NotNil(t, m.get(broken.ID).Binding, "it is planned again")
}

// Each change is in the history before it is made and after, with its evidence; watching leaves no
// line.
func TestP8_ChangesAreLoggedTwice(t *testing.T) {
	m := newMachine(t)
	lost, alive := m.start(running), m.start(running)
	m.lose(lost)
	m.restart()
	before := len(m.get(lost.ID).History)
	m.recover()
	var lines [][2]string
	for _, c := range m.get(lost.ID).History[before:] {
		assert.Equal(t, noon, c.At)
		lines = append(lines, [2]string{string(c.Rule), c.Why})
	}
	evidence := "pane " + lost.Binding.Pane + " of tmux server " + strconv.Itoa(lost.Binding.Server.PID) + " is gone, process " + lost.Binding.Agent.String() + " is gone"
	assert.Equal(t, [][2]string{
		{"recovery.mark_lost", "begins: its pane and its process are gone (" + evidence + ")"},
		{"recovery.mark_lost", "its pane and its process are gone"},
		{"recovery.mark_lost", "done"},
	}, lines)
	assert.NotContains(t, rules(m.get(alive.ID)), session.Rule("recovery.reattach"))
	assert.Equal(t, []string{"recovery-noted", "recovery-applied"}, m.points)
}

// The records are backed up before the first change, once, and not when nothing
// changes.
func TestBackupComesBeforeTheFirstChange(t *testing.T) {
	m := newMachine(t)
	lost, left := m.start(running), m.start(unbound)
	m.lose(lost)
	m.restart()
	m.Backup = func(ctx context.Context) (string, error) {
		assert.Empty(t, m.points)
		assert.Equal(t, session.Running, m.get(lost.ID).State)
		assert.Nil(t, m.get(left.ID).Binding)
		return m.backUp(ctx)
	}
	report, err := m.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "2026-03-04T12-00-00.000Z", report.Backup)
	report, err = m.Run(t.Context())
	require.NoError(t, err)
	assert.Empty(t, report.Backup)
	assert.Equal(t, 1, m.backups)
}

// The disk is full, or the folder cannot be written.
func TestP8_WithoutABackupNothingChanges(t *testing.T) {
	m := newMachine(t)
	m.lose(m.start(running))
	m.start(unbound)
	m.restart()
	before := m.store.List()
	m.Backup = func(context.Context) (string, error) { return "", errDisk }
	m.Events = func(context.Context) error { t.Error("events are taken in"); return nil }
	_, err := m.Run(t.Context())
	require.ErrorIs(t, err, errDisk)
	assert.ErrorContains(t, err, "nothing is lost")
	assert.Equal(t, before, m.store.List())
	assert.Empty(t, m.points)

	m.restart()
	m.Backup = func(context.Context) (string, error) { return "made", errors.New("an old one stays") }
	report, err := m.Run(t.Context())
	require.NoError(t, err, "the backup itself is good")
	assert.Equal(t, "made", report.Backup)
	assert.Len(t, m.lines("backups_not_pruned"), 1)
}

// Events that hooks sent while ccbot did not run may change the plan.
func TestP1_PendingEventsPrecedeEnd(t *testing.T) {
	m := newMachine(t)
	lost := m.start(running)
	m.lose(lost)
	m.restart()
	actions, _ := Plan(m.Collect(t.Context()))
	require.Equal(t, lifecycle.MarkLost, actions[0].Do)
	var agent process.Identity
	m.Events = func(context.Context) error {
		agent = m.inTerminal(lost.AgentSessionID)
		return nil
	}
	report, err := m.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, report.Results, 1)
	assert.Equal(t, TakeOver, report.Results[0].Action.Do, "and not lost")
	target, ok := m.boundTo(agent)
	require.True(t, ok)
	assert.Equal(t, lost.ID, target.ID)
}

// A take-over that the lifecycle refuses leaves no unwatched session.
func TestP8_RefusedTakeOverIsLost(t *testing.T) {
	m := newMachine(t)
	r := m.start(running)
	m.lose(r)
	agent := m.inTerminal(r.AgentSessionID)
	m.restart()
	m.Failpoint = func(point string) {
		if point == "recovery-noted" {
			m.processes.Exit(agent.PID)
		}
	}
	m.recover()
	assert.Len(t, m.lines("recovery_failed"), 1)
	assert.Equal(t, session.Lost, m.get(r.ID).State)
	assert.Empty(t, m.recover())
}

// An interrupted take-over is not a loss: the next plan completes it.
func TestP8_HalfTakeOverIsNotLost(t *testing.T) {
	m := newMachine(t)
	r := m.start(running)
	m.lose(r)
	m.inTerminal(r.AgentSessionID)
	m.restart()
	m.Lifecycle = &refusing{Lives: m.service, err: errDisk, half: session.Record{ID: uuid.New()}}
	m.recover()
	assert.Len(t, m.lines("recovery_failed"), 1)
	assert.Equal(t, session.Running, m.get(r.ID).State)
}

// While the bot runs others work on the records too.
func TestP8_OvertakenActionIsSkipped(t *testing.T) {
	m := newMachine(t)
	r := m.start(stopping)
	m.restart()
	m.Failpoint = func(point string) {
		if point == "recovery-noted" {
			m.change(r.ID, func(r *session.Record) { r.State, r.Binding = session.Archived, nil })
		}
	}
	m.recover()
	assert.Empty(t, m.lines("recovery_failed"))
	assert.Equal(t, session.Archived, m.get(r.ID).State)
	history := m.get(r.ID).History
	assert.Equal(t, "no longer needed", history[len(history)-1].Why)
}

// Agents that the bot itself has launched since are not taken up again.
func TestRecoveringAgainBesideTheBot(t *testing.T) {
	m := newMachine(t)
	m.start(running)
	m.restart()
	assert.Len(t, m.recover(), 1)
	m.now = noon.Add(time.Minute)
	m.start(running)
	awaited := m.start(func(r *session.Record) { r.State, r.Binding = session.Restoring, nil })
	m.closeTagged(awaited)
	assert.Empty(t, m.recover())
	m.now = noon.Add(time.Hour)
	assert.Empty(t, m.recover(), "the lifecycle gives up looking for its window")
}

// The leftovers of an archived session end through the lifecycle, and the report describes how.
func TestP3_LeftoversAreEndedAtTheStart(t *testing.T) {
	m := newMachine(t)
	r := m.start(running)
	require.NoError(t, m.service.Archive(t.Context(), r.ID, session.Archived, port.Cause{Why: "asked for"}))
	m.change(r.ID, func(r *session.Record) { r.EndedAt, r.SinceMoment = noon.Add(-time.Hour), process.Moment{} })
	left := m.runs(77, []string{"claude", "--resume", r.AgentSessionID.String()})
	other := m.runs(78, []string{"claude", "--resume", uuid.NewString()})
	m.restart()
	report, err := m.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, report.Results, 1)
	assert.Equal(t, lifecycle.EndLeftovers, report.Results[0].Action.Do)
	require.Len(t, report.Results[0].Ended, 1)
	assert.Equal(t, left, report.Results[0].Ended[0].Process.Identity)
	assert.Equal(t, process.Gone, m.processes.Liveness(left))
	assert.Equal(t, process.Alive, m.processes.Liveness(other))
	assert.Empty(t, m.recover())
}
