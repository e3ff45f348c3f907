package recovery

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// writer is process 3000+n in pane n, that its presence file proves to write the
// conversation.
func writer(n int, change ...func(*evidence.Writer)) evidence.Writer {
	w := evidence.Writer{Proven: true, Source: process.SourcePresence, Standing: evidence.Second, Pane: pane(n), InTmux: true, Age: time.Hour}
	w.Process = process.Process{Identity: process.Identity{PID: 3000 + n, Start: uint64(n + 1), Boot: "boot"}}
	for _, c := range change {
		c(&w)
	}
	return w
}

func leftover(w *evidence.Writer) { w.Standing = evidence.Leftover }

func writes(w World, r session.Record, writers ...evidence.Writer) World {
	w.Survey.Writers[r.ID] = writers
	return w
}

// only is the one action of a plan; empty if there is none.
func only(t *testing.T, w World) Action {
	t.Helper()
	actions, _ := Plan(w)
	require.LessOrEqual(t, len(actions), 1, "%+v", actions)
	if len(actions) == 0 {
		return Action{}
	}
	return actions[0]
}

// A session whose agent is gone continues where its conversation does, if there is no doubt of
// either.
func TestP1_TakeOverNeedsUniqueMatch(t *testing.T) {
	lost := func() (session.Record, World) {
		r := record(session.Running, binding(3))
		return r, world(r, process.Gone, pane(7))
	}
	tests := []struct {
		name    string
		writers []evidence.Writer
		world   func(r session.Record, w *World)
		want    lifecycle.Do
	}{
		{name: "one", writers: []evidence.Writer{writer(7)}, want: TakeOver},
		{name: "none", want: lifecycle.MarkLost},
		{name: "two", writers: []evidence.Writer{writer(7), writer(8)}, want: lifecycle.MarkLost},
		{name: "another one may write too", want: lifecycle.MarkLost,
			writers: []evidence.Writer{writer(7), writer(8, func(w *evidence.Writer) { w.Proven = false })}},
		{name: "not proven", writers: []evidence.Writer{writer(7, func(w *evidence.Writer) { w.Proven = false })}, want: lifecycle.MarkLost},
		{name: "only its command line says so", writers: []evidence.Writer{writer(7, func(w *evidence.Writer) { w.Source = process.SourceArgv })}, want: lifecycle.MarkLost},
		{name: "only a hook said so", writers: []evidence.Writer{writer(7, func(w *evidence.Writer) { w.Source = process.SourceHook })}, want: lifecycle.MarkLost},
		{name: "in no window", writers: []evidence.Writer{writer(7, func(w *evidence.Writer) { w.InTmux = false })}, want: lifecycle.MarkLost},
		{name: "protected", writers: []evidence.Writer{writer(7, func(w *evidence.Writer) { w.Spared = "self" })}, want: lifecycle.MarkLost},
		{name: "below another agent", writers: []evidence.Writer{writer(7)}, want: lifecycle.MarkLost,
			world: func(_ session.Record, w *World) { w.Nested = map[process.Identity]bool{writer(7).Identity: true} }},
		{name: "told as a second writer", writers: []evidence.Writer{writer(7)}, want: lifecycle.MarkLost,
			world: func(_ session.Record, w *World) { w.Records[0].SecondWriters = []process.Identity{writer(7).Identity} }},
		{name: "another session has the conversation", writers: []evidence.Writer{writer(7)}, want: lifecycle.MarkLost,
			world: func(r session.Record, w *World) {
				other := record(session.Archived, nil)
				other.AgentSessionID = r.AgentSessionID
				w.Records = append(w.Records, other)
			}},
		{name: "another session had the conversation, and was set aside", writers: []evidence.Writer{writer(7)}, want: TakeOver,
			world: func(r session.Record, w *World) {
				other := record(session.Failed, nil)
				other.AgentSessionID, other.ClosedReason = r.AgentSessionID, session.ClosedStale
				w.Records = append(w.Records, other)
			}},
		{name: "in another session's window", writers: []evidence.Writer{writer(7)}, want: lifecycle.MarkLost,
			world: func(_ session.Record, w *World) {
				other := record(session.Running, binding(7))
				w.Records = append(w.Records, other)
				w.Watched = map[uuid.UUID]bool{other.ID: true}
			}},
		{name: "it was never ready", writers: []evidence.Writer{writer(7)}, want: lifecycle.MarkLost,
			world: func(_ session.Record, w *World) { w.Records[0].State = session.Restoring }},
		{name: "its own agent may live", writers: []evidence.Writer{writer(7)}, want: "",
			world: func(r session.Record, w *World) { w.Survey.Agents[r.ID] = process.Unknown }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r, w := lost()
			w = writes(w, r, tc.writers...)
			if tc.world != nil {
				tc.world(r, &w)
			}
			a := only(t, w)
			assert.Equal(t, tc.want, a.Do)
			if tc.want == TakeOver {
				assert.Equal(t, writer(7).Identity, a.Agent)
				assert.Equal(t, r.AgentSessionID, a.AgentSessionID)
				assert.Equal(t, writer(7).Pane, a.Pane)
			}
		})
	}
}

// Weak evidence of an interactive agent does not make a second writer yet.
func TestP1_OnlyThePresenceFileProves(t *testing.T) {
	assert.True(t, byPresence(writer(7)))
	assert.False(t, byPresence(writer(7, func(w *evidence.Writer) { w.Proven = false })), "it contradicts a hook")
	assert.False(t, byPresence(writer(7, func(w *evidence.Writer) { w.Source = process.SourceHook })))
	assert.False(t, byPresence(evidence.Writer{}))
}

func TestHowItWasLost(t *testing.T) {
	tests := []struct {
		name   string
		change func(*World)
		want   string
	}{
		{"its window was closed", func(*World) {}, ""},
		{"the machine was started anew", func(w *World) { w.Boot, w.Server.PID = "another", 1 }, session.ClosedReboot},
		{"and no tmux server listens", func(w *World) { w.Boot, w.Tmux = "another", TmuxAbsent }, session.ClosedReboot},
		{"the tmux server was started anew", func(w *World) { w.Server.Start++ }, session.ClosedTmux},
		{"no tmux server listens", func(w *World) { w.Tmux = TmuxAbsent }, session.ClosedTmux},
		{"nobody knows the boot", func(w *World) { w.Boot = "" }, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			w := world(record(session.Running, binding(3)), process.Gone)
			tc.change(&w)
			a := only(t, w)
			assert.Equal(t, lifecycle.MarkLost, a.Do)
			assert.Equal(t, tc.want, a.Closed)
		})
	}
}

// If the agent's liveness is unknown, only silence for long enough ends the session.
func TestStaleRunningIsAbandoned(t *testing.T) {
	const unknown = process.Unknown
	old := noon.Add(-31 * day)
	tests := []struct {
		name  string
		state session.State
		alive process.Liveness
		sign  Sign
		limit time.Duration
		want  lifecycle.Do
	}{
		{"31 days", session.Running, unknown, Sign{old, "last_turn_at"}, 30 * day, Abandon},
		{"30 days to the second", session.Running, unknown, Sign{noon.Add(-30 * day), "last_turn_at"}, 30 * day, ""},
		{"a sign in the future", session.Running, unknown, Sign{noon.Add(31 * day), "last_turn_at"}, 30 * day, ""},
		{"switched off", session.Running, unknown, Sign{old, "last_turn_at"}, 0, ""},
		{"nobody looked for signs", session.Running, unknown, Sign{}, 30 * day, ""},
		{"its process lives", session.Running, process.Alive, Sign{old, "last_turn_at"}, 30 * day, ""},
		{"its process is gone", session.Running, process.Gone, Sign{old, "last_turn_at"}, 30 * day, lifecycle.MarkLost},
		{"it was never ready", session.Restoring, unknown, Sign{old, "started_at"}, 30 * day, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := record(tc.state, binding(3))
			w := world(r, tc.alive)
			w.Signs[r.ID], w.Limits.StaleRunning = tc.sign, tc.limit
			a := only(t, w)
			assert.Equal(t, tc.want, a.Do)
			if tc.want == Abandon {
				assert.Equal(t, "no sign of life for 31d (threshold 30d), newest: last_turn_at 2026-02-01T12:00:00Z", a.Why)
				assert.Equal(t, "it is not known whether its process lives", a.Evidence)
				assert.Equal(t, session.ClosedSilent, a.Closed)
				var log bytes.Buffer
				a.log(slog.New(slog.NewJSONHandler(&log, nil)))
				assert.Contains(t, log.String(), fmt.Sprintf(`"age":%d,"older_than":%d,"sign":"last_turn_at","sign_at":"2026-02-01T12:00:00Z"`, 31*day, 30*day), "for programs")
			}
		})
	}
}

// A session that was ended on purpose leaves nothing that runs; no other process is ended.
func TestP3_EndedSessionsLeftoversAreEnded(t *testing.T) {
	ended := func(ago time.Duration) func(*session.Record) {
		return func(r *session.Record) { r.EndedAt = noon.Add(-ago) }
	}
	retry := func(in time.Duration) func(*session.Record) {
		return func(r *session.Record) {
			r.Cleanup = &session.CleanupError{Reason: "process 7 survived", NotBefore: noon.Add(in)}
		}
	}
	tests := []struct {
		name   string
		state  session.State
		record func(*session.Record)
		writer evidence.Writer
		want   lifecycle.Do
		notice NoticeKind
	}{
		{name: "archived", state: session.Archived, writer: writer(7, leftover), want: lifecycle.EndLeftovers},
		{name: "completed", state: session.Completed, writer: writer(7, leftover), want: lifecycle.EndLeftovers},
		{name: "a minute ago", state: session.Archived, record: ended(time.Minute), writer: writer(7, leftover), want: lifecycle.EndLeftovers},
		{name: "a moment ago", state: session.Archived, record: ended(5 * time.Second), writer: writer(7, leftover)},
		{name: "a second writer", state: session.Archived, writer: writer(7)},
		{name: "not proven", state: session.Archived, writer: writer(7, leftover, func(w *evidence.Writer) { w.Proven = false })},
		{name: "protected", state: session.Archived, writer: writer(7, leftover, func(w *evidence.Writer) { w.Spared = "other_agent" })},
		{name: "to be tried again later", state: session.Archived, record: retry(time.Minute), writer: writer(7, leftover), notice: Pending},
		{name: "to be tried again now", state: session.Archived, record: retry(-time.Minute), writer: writer(7, leftover), want: lifecycle.EndLeftovers},
		{name: "lost: whoever goes on may be meant to", state: session.Lost, writer: writer(7, leftover)},
		{name: "failed", state: session.Failed, writer: writer(7, leftover)},
		{name: "abandoned: nobody knew", state: session.Abandoned, writer: writer(7, leftover)},
		{name: "the clean-up failed: the lifecycle tries again", state: session.CleanupFailed, record: retry(-time.Minute),
			writer: writer(7, leftover), notice: Pending},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := record(tc.state, nil)
			if tc.record != nil {
				tc.record(&r)
			}
			w := writes(world(r, process.Unknown), r, tc.writer)
			assert.Equal(t, tc.want, only(t, w).Do)
			_, notices := Plan(w)
			if tc.notice == "" {
				assert.Empty(t, notices)
			} else if assert.Len(t, notices, 1) {
				assert.Equal(t, tc.notice, notices[0].Kind)
				assert.Contains(t, notices[0].Why, "process 7 survived")
			}
		})
	}
}

// ORPHAN_GRACE: a session that was just started may still get its window, one that has just ended
// may still be ending. Without a grace nothing is waited for.
func TestGracePeriodProtectsRecentSessions(t *testing.T) {
	tests := []struct {
		ago, grace time.Duration
		young      bool
	}{
		{0, 30 * time.Second, true},
		{29 * time.Second, 30 * time.Second, true},
		{30 * time.Second, 30 * time.Second, false},
		{31 * time.Second, time.Minute, true},
		{0, 0, false},
		{-time.Hour, 30 * time.Second, false},
	}
	for _, tc := range tests {
		restoring, over := record(session.Restoring, nil), record(session.Archived, nil)
		restoring.StartedAt, over.EndedAt = noon.Add(-tc.ago), noon.Add(-tc.ago)
		w := world(restoring, process.Unknown)
		w.Limits.OrphanGrace = tc.grace
		w.Records = append(w.Records, over)
		actions, _ := Plan(writes(w, over, writer(7, leftover)))
		if tc.young {
			require.Len(t, actions, 1)
			assert.Equal(t, lifecycle.FinishRestore, actions[0].Do)
			continue
		}
		require.Len(t, actions, 2, "%s of %s", tc.ago, tc.grace)
		assert.Equal(t, []lifecycle.Do{lifecycle.Fail, lifecycle.EndLeftovers}, []lifecycle.Do{actions[0].Do, actions[1].Do})
	}
}

func TestP8_UnreadableRecordsAreReported(t *testing.T) {
	w := World{Tmux: TmuxAbsent, Unloaded: []session.Unloaded{
		{File: "a.json", ID: uuid.New(), Why: "version 9"}, {File: "b.json", Why: "unexpected end"}}}
	actions, notices := Plan(w)
	assert.Empty(t, actions)
	require.Len(t, notices, 2)
	assert.Equal(t, Notice{Kind: Unreadable, Record: w.Unloaded[0].ID, File: "a.json", Why: "version 9"}, notices[0])
	assert.Equal(t, Notice{Kind: Unreadable, File: "b.json", Why: "unexpected end"}, notices[1])
}

// Every action has its evidence.
func TestEvidenceIsTold(t *testing.T) {
	gone := world(record(session.Running, binding(3)), process.Gone)
	assert.Equal(t, "pane %3 of tmux server 50 is gone, process 1003@4 is gone", only(t, gone).Evidence)
	gone.Server.PID = 51
	assert.Equal(t, "pane %3 of tmux server 50 is gone, process 1003@4 is gone, tmux server 51 is another one", only(t, gone).Evidence)
	gone.Tmux = TmuxAbsent
	assert.Equal(t, "pane %3 of tmux server 50 is gone, process 1003@4 is gone, no tmux server listens", only(t, gone).Evidence)
	gone.Boot = "another"
	assert.Equal(t, "pane %3 of tmux server 50 is gone, process 1003@4 is gone, the machine was restarted", only(t, gone).Evidence)

	for status, want := range map[int]string{0: ", status 0", 3: ", status 3", -1: ""} {
		dead := pane(3, func(p *tmux.Pane) { p.Dead, p.DeadStatus = true, status })
		assert.Equal(t, "pane %3 of window @3 is dead"+want+", process 1003@4 is gone", only(t, world(record(session.Running, binding(3)), process.Gone, dead)).Evidence)
	}
	killed := pane(3, func(p *tmux.Pane) { p.Dead, p.DeadStatus, p.DeadSignal = true, -1, 9 })
	assert.Equal(t, "pane %3 of window @3 is dead, signal 9, process 1003@4 is gone", only(t, world(record(session.Running, binding(3)), process.Gone, killed)).Evidence)

	over := record(session.Archived, nil)
	left := writes(world(over, process.Unknown), over, writer(7, leftover, func(w *evidence.Writer) { w.Source = process.SourceArgv }),
		writer(8, leftover, func(w *evidence.Writer) { w.InTmux = false }))
	assert.Equal(t, "process 3007@8 in window @7 by its command line; process 3008@9 by its presence", only(t, left).Evidence)
}

// A next try that is further off than any try is put off was noted by a clock that
// was wrong.
func TestP3_FarOffRetryIsDueNow(t *testing.T) {
	for off, due := range map[time.Duration]bool{-time.Second: true, time.Minute: false, lifecycle.RetryMost: false, 24 * time.Hour: true} {
		r := record(session.Archived, nil)
		r.EndedAt, r.Cleanup = noon.Add(-time.Hour), &session.CleanupError{NotBefore: noon.Add(off)}
		w := world(r, process.Unknown)
		actions, _ := Plan(writes(w, r, writer(7, leftover)))
		assert.Equal(t, due, len(actions) == 1, off)
	}
}
