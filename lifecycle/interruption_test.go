package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude"
	"ccbot/agent/claude/claudeflags"
	"ccbot/agent/claude/presence"
	"ccbot/agent/history"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux/tmuxtest"
)

// The cases of an interruption. Minutes are counted from the launch.
func TestInterruption(t *testing.T) {
	launch := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return launch.Add(time.Duration(minute) * time.Minute) }
	const now = 60
	open := func(minute int) history.Progress {
		return history.Progress{OpenTurn: &history.Turn{At: at(minute), Step: "make test"}, TurnsWell: 2,
			Tasks: []port.Task{{Status: "completed"}, {Status: "in_progress"}}}
	}
	over := func(minute int) history.Progress { return history.Progress{LastTurnAt: at(minute), TurnsWell: 2} }
	left := func(status presence.Status, minute int) view.AgentState {
		return view.StateOf(process.Identity{}, presence.File{Status: status, UpdatedAt: at(minute)}, nil)
	}
	cut := func(change func(i *session.Interruption)) *session.Interruption {
		i := &session.Interruption{At: at(now), Step: "make test", TasksDone: 1, TasksTotal: 2, TurnsWell: 2}
		if change != nil {
			change(i)
		}
		return i
	}
	earlier := &session.Interruption{At: at(-5), TurnsWell: 2, Followed: true}
	tests := []struct {
		name     string
		phase    talk.Phase
		since    int
		progress history.Progress
		last     view.AgentState
		exit     *session.Exit
		before   *session.Interruption
		seen     int // until when a ccbot was there; 0: until the end
		want     *session.Interruption
	}{
		{name: "at work", phase: talk.PhaseWorking, since: 10, progress: open(11), want: cut(nil)},
		{name: "at work, and nothing is written yet", phase: talk.PhaseWorking, since: 10, progress: over(9), want: &session.Interruption{At: at(now), TurnsWell: 2}},
		{name: "at work as far as was seen, but the turn has ended", phase: talk.PhaseWorking, since: 10, progress: over(11)},
		{name: "idle", phase: talk.PhaseIdle, since: 10, progress: over(10)},
		{name: "idle, and the end of the turn is not written", phase: talk.PhaseIdle, since: 10, progress: open(9)},
		{name: "idle as far as was seen, but a turn has begun", phase: talk.PhaseIdle, since: 10, progress: open(20), want: cut(nil)},
		{name: "the same while no ccbot was there", phase: talk.PhaseIdle, since: 10, progress: open(20), seen: 15,
			want: cut(func(i *session.Interruption) { i.Unseen = true })},
		{name: "at work when ccbot left, and on", phase: talk.PhaseWorking, since: 10, progress: open(20), seen: 15,
			want: cut(func(i *session.Interruption) { i.Unseen = true })},
		{name: "at work when ccbot left, and no line since", phase: talk.PhaseWorking, since: 10, progress: open(15), seen: 15, want: cut(nil)},
		{name: "its own word tells what no ccbot saw", phase: talk.PhaseIdle, since: 10, progress: open(20), seen: 15, last: left(presence.Busy, 21), want: cut(nil)},
		{name: "and that it waited", phase: talk.PhaseWorking, since: 10, progress: open(20), seen: 15, last: left(presence.Waiting, 21),
			want: cut(func(i *session.Interruption) { i.Waited = true })},
		{name: "and that it was idle", phase: talk.PhaseWorking, since: 10, progress: open(20), last: left(presence.Idle, 21)},
		{name: "an old word does not count", phase: talk.PhaseWorking, since: 10, progress: open(11), last: left(presence.Idle, 9), want: cut(nil)},
		{name: "it waited for a permission", phase: talk.PhaseWaitingPermission, since: 12, progress: open(11),
			want: cut(func(i *session.Interruption) { i.Waited = true })},
		{name: "it waited for an answer", phase: talk.PhaseWaitingAnswer, since: 12, progress: open(11),
			want: cut(func(i *session.Interruption) { i.Waited = true })},
		{name: "it waited, was answered, and was done", phase: talk.PhaseWaitingPermission, since: 12, progress: over(13)},
		{name: "no phase was ever seen", phase: "", since: -100, progress: open(5), want: cut(nil)},
		{name: "no phase was ever seen, and what is open is older than the launch", phase: "", since: -100, progress: open(-5)},
		{name: "the earlier one stays", phase: talk.PhaseIdle, since: 10, progress: open(-5), before: earlier, want: earlier},
		{name: "somebody left it", phase: talk.PhaseWorking, since: 10, progress: open(11), exit: &session.Exit{Known: true}},
		{name: "it was killed", phase: talk.PhaseWorking, since: 10, progress: open(11), exit: &session.Exit{Known: true, Signal: 9}, want: cut(nil)},
		{name: "nobody saw how it ended", phase: talk.PhaseWorking, since: 10, progress: open(11), exit: &session.Exit{}, want: cut(nil)},
		{name: "again, without a turn that ended well", phase: talk.PhaseWorking, since: 10, progress: open(11), before: earlier,
			want: cut(func(i *session.Interruption) { i.Again = true })},
		{name: "again, after one", phase: talk.PhaseWorking, since: 10, progress: open(11), before: &session.Interruption{At: at(-5), TurnsWell: 1, Followed: true}, want: cut(nil)},
		{name: "again, but nobody went on after the one before", phase: talk.PhaseWorking, since: 10, progress: open(11),
			before: &session.Interruption{At: at(-5), TurnsWell: 2}, want: cut(nil)},
		{name: "the same launch once more", phase: talk.PhaseWorking, since: 10, progress: open(11), before: &session.Interruption{At: at(now - 1)},
			want: &session.Interruption{At: at(now - 1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := session.Record{Run: session.Run{Phase: string(tt.phase), PhaseAt: at(tt.since), StartedAt: launch, Exit: tt.exit}, Progress: tt.progress, Interruption: tt.before}
			seen := at(now)
			if tt.seen != 0 {
				seen = at(tt.seen)
			}
			if tt.last == (view.AgentState{}) {
				tt.last.Known = view.StateUnwritten
			}
			assert.Equal(t, tt.want, interruption(r, tt.last, seen, at(now)))
		})
	}
}

func TestContinuesAlone(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *session.Record)
		want   bool
	}{
		{"it was seen at work", func(*session.Record) {}, true},
		{"nothing was interrupted", func(r *session.Record) { r.Interruption = nil }, false},
		{"somebody has gone on", func(r *session.Record) { r.Interruption.Followed = true }, false},
		{"a turn has ended well since", func(r *session.Record) { r.Progress.TurnsWell = 3 }, false},
		{"it waited for a person", func(r *session.Record) { r.Interruption.Waited = true }, false},
		{"it may have", func(r *session.Record) { r.Interruption.Unseen = true }, false},
		{"it was interrupted before", func(r *session.Record) { r.Interruption.Again = true }, false},
		{"it does not ask", func(r *session.Record) { r.Launch.PermissionMode = "bypass" }, false},
		{"a flag says so", func(r *session.Record) { r.Launch.Flags = []string{"--dangerously-skip-permissions"} }, false},
		{"it was switched to that", func(r *session.Record) { r.Progress.PermissionMode = claudeflags.ModeBypass }, false},
		{"nobody knows how it was started", func(r *session.Record) { r.Launch = nil }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := session.Record{Interruption: &session.Interruption{TurnsWell: 2}, Progress: history.Progress{TurnsWell: 2},
				Launch: &session.Launch{PermissionMode: "ask"}}
			tt.change(&r)
			assert.Equal(t, tt.want, ContinuesAlone(r, claude.Starter{}))
		})
	}
}

// An agent that is killed at work leaves an interruption, which the news tells; the next prompt
// that it takes ends it.
func TestP8_InterruptionIsKeptUntilNextPrompt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.becomes(a, presence.Busy)
		w.write(r, `{"type":"assistant","timestamp":"2026-03-04T12:00:00Z","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make test"}}],"usage":{}}}`)
		w.tmux.die(a, tmuxtest.Exit{Status: 143})
		w.pass(time.Minute)
		over := w.get(r.ID)
		require.NotNil(t, over.Unfinished())
		assert.Equal(t, "make test", over.Interruption.Step)
		assert.False(t, over.Interruption.Unseen)
		assert.Equal(t, over.Interruption, lastSession[news.Ended](w.news).Interruption)
		assert.Contains(t, over.History[len(over.History)-2].Why, ", with exit status 143")

		back, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		w.report(back)
		w.pass(time.Minute)
		ready := lastSession[news.Ready](w.news)
		require.NotNil(t, ready.Unfinished(), "a resume alone does not go on")
		assert.Equal(t, over.ContinueID(), ready.ContinueID())
		w.held(back, "k", viewtest.Said)
		w.pass(time.Second)
		w.hook(back, "UserPromptSubmit", prompted(viewtest.Said))
		on := w.get(r.ID)
		assert.Nil(t, on.Unfinished())
		assert.True(t, on.Interruption.Followed)
	})
}

func TestP8_RequestedStopIsNotInterruption(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.becomes(a, presence.Busy)
		w.archive(r)
		assert.Nil(t, w.get(r.ID).Interruption)
	})
}

func TestP8_LossDuringWorkIsInterruption(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.becomes(a, presence.Waiting)
		w.restart()
		w.processes.Exit(a.id.PID)
		w.tmux.ClosePaneByHand(a.pane)
		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		lost := w.get(r.ID)
		require.NotNil(t, lost.Unfinished())
		assert.True(t, lost.Interruption.Waited)
	})
}
