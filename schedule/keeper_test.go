package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/refusal"
)

func TestOnceIsSentAndOver(t *testing.T) {
	w := newWorld(t)
	s := w.add("09:00")
	w.pass(59 * time.Minute)
	assert.Empty(t, w.engine.order)
	w.pass(time.Minute)
	assert.Equal(t, []port.ScheduleReport{{At: s.Next}}, w.engine.told)
	assert.Len(t, w.engine.order, 1)
	w.none()
}

func TestEachDayInZoneOfChat(t *testing.T) {
	w := newWorld(t)
	w.add("day 09:00")
	for range 40 * 24 * 4 { // over the change to summer time
		w.pass(15 * time.Minute)
	}
	require.Len(t, w.engine.told, 41)
	for _, r := range w.engine.told {
		assert.Equal(t, "09:00", r.At.In(zoneOf(t, "Europe/Berlin")).Format("15:04"))
		assert.Zero(t, r.Late)
	}
	require.NoError(t, w.SetZone(t.Context(), uuid.Nil, w.only().ID, "America/New_York"))
	w.pass(24 * time.Hour)
	next := w.only()
	assert.Equal(t, "09:00", next.Next.In(zoneOf(t, "America/New_York")).Format("15:04"))
}

func TestMissedRuns(t *testing.T) {
	at := func(day, hour int) time.Time { return time.Date(2027, 3, day, hour, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name   string
		change func(q *port.ScheduleRequest)
		after  time.Duration
		want   []port.ScheduleReport
		sent   int
	}{
		{"once, with the delay", func(*port.ScheduleRequest) {}, 4 * time.Hour, []port.ScheduleReport{{At: at(1, 8), Late: 3 * time.Hour}}, 1},
		{"never batched", func(*port.ScheduleRequest) {}, 76 * time.Hour, []port.ScheduleReport{{At: at(4, 8), Late: 3 * time.Hour, Left: 3}}, 1},
		{"skipped", skipMissed, 76 * time.Hour, []port.ScheduleReport{{Reason: port.SkipMissed, At: at(4, 8), Left: 3}}, 0},
		{"skipped but for the present one", skipMissed, 73 * time.Hour, []port.ScheduleReport{{At: at(4, 8), Left: 3}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.add("day 09:00", tt.change)
			w.restart()
			w.pass(tt.after)
			assert.Equal(t, tt.want, w.engine.told)
			assert.Len(t, w.engine.order, tt.sent)
			w.pass(time.Hour)
			assert.Len(t, w.engine.order, tt.sent)
		})
	}
}

// TestClockBackRepeatsNothing: the chat is told when the schedule goes on.
func TestClockBackRepeatsNothing(t *testing.T) {
	w := newWorld(t)
	w.add("day 09:00")
	w.pass(time.Hour)
	w.pass(-30 * time.Minute)
	assert.Equal(t, port.ScheduleReport{Reason: port.SkipClockBack, At: time.Date(2027, 3, 2, 8, 0, 0, 0, time.UTC)}, w.engine.told[1])
	w.restart()
	w.pass(15 * time.Minute)
	w.pass(time.Hour)
	assert.Len(t, w.engine.told, 2)
	assert.Len(t, w.engine.order, 1)
	w.pass(24 * time.Hour)
	assert.Len(t, w.engine.order, 2)
}

func TestSkippedRuns(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(e *fakeEngine)
		reason port.SkipReason
	}{
		{"the turn runs", func(e *fakeEngine) { e.turn = outcome.Open }, port.SkipBusy},
		{"a dialog is open", func(e *fakeEngine) { e.turn = outcome.Asks }, port.SkipBusy},
		{"a person is asked about the prompt", func(e *fakeEngine) { e.turn = outcome.Undecided }, port.SkipBusy},
		{"a loop has the session", func(e *fakeEngine) { e.loop = true }, port.SkipLooped},
		{"it is not resumed", func(e *fakeEngine) { e.record.State, e.refused = session.Lost, &refusal.Error{Code: refusal.Writers} }, port.SkipNotResumed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.add("day 09:00")
			w.pass(time.Hour - time.Second)
			if tt.reason == port.SkipBusy {
				tt.change(w.engine)
			}
			w.pass(time.Second)
			tt.change(w.engine)
			w.pass(24 * time.Hour)
			require.Len(t, w.engine.told, 2)
			want := port.ScheduleReport{Reason: tt.reason, At: time.Date(2027, 3, 2, 8, 0, 0, 0, time.UTC)}
			if w.engine.refused != nil {
				want.Detail, want.Refusal = "writers", json.RawMessage(`{"code":"writers"}`)
			}
			assert.Equal(t, want, w.engine.told[1])
			w.engine.turn, w.engine.loop, w.engine.refused = outcome.Answered, false, nil
			w.pass(24 * time.Hour)
			w.pass(time.Second) // it is resumed
			assert.Len(t, w.engine.told, 3)
			assert.Len(t, w.engine.order, 2)
		})
	}
}

func archivedBy(rule session.Rule) session.Record {
	return session.Record{State: session.Archived, History: []session.Change{{To: session.Stopping, Rule: rule}, {To: session.Archived}}}
}

// TestEndedSessions: a session that has ended by itself or for its silence is resumed.
func TestEndedSessions(t *testing.T) {
	crashed := session.Record{State: session.Completed, Run: session.Run{Exit: &session.Exit{Known: true, Status: 1}}}
	for _, tt := range []struct {
		name    string
		record  session.Record
		resumed bool
	}{
		{"lost", session.Record{State: session.Lost}, true},
		{"failed", session.Record{State: session.Failed}, true},
		{"crashed", crashed, true},
		{"archived for its silence", archivedBy(lifecycle.RuleIdle), true},
		{"archived by a person", archivedBy("stop"), false},
		{"completed", session.Record{State: session.Completed}, false},
		{"abandoned", session.Record{State: session.Abandoned}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.add("day 09:00")
			tt.record.ID, tt.record.EndedAt = w.engine.record.ID, w.now.Add(50*time.Minute)
			w.engine.record = tt.record
			w.pass(59 * time.Minute) // a person may still undo an end
			assert.Empty(t, w.engine.told)
			w.pass(time.Minute)
			w.pass(time.Second)
			if tt.resumed {
				assert.Equal(t, 1, w.engine.resumed)
				assert.Len(t, w.engine.order, 1)
				return
			}
			assert.Equal(t, []port.ScheduleReport{{Reason: port.SkipEnded}}, w.engine.told)
			w.none()
			assert.Empty(t, w.engine.order)
		})
	}
}

func TestUndoneEndDelaysRun(t *testing.T) {
	w := newWorld(t)
	w.add("day 09:00")
	w.engine.record.State, w.engine.record.EndedAt = session.Completed, w.now.Add(58*time.Minute)
	w.pass(65 * time.Minute)
	assert.Empty(t, w.engine.told)
	w.engine.record.State = session.Running
	w.pass(0)
	assert.Equal(t, 5*time.Minute, w.engine.told[0].Late)
}

func TestForgottenSessionEndsSchedule(t *testing.T) {
	w := newWorld(t)
	w.add("day 09:00")
	w.engine.known = false
	w.restart()
	w.pass(0)
	assert.Equal(t, []port.ScheduleReport{{Reason: port.SkipForgotten}}, w.engine.told)
	w.none()
}

// TestFaultsAreRetried: neither the queue nor the chat takes anything for a while.
func TestFaultsAreRetried(t *testing.T) {
	w := newWorld(t)
	w.add("day 09:00")
	w.engine.err = errors.New("no")
	w.pass(time.Hour)
	assert.Empty(t, w.engine.order)
	assert.NotNil(t, w.only().Run)
	w.engine.err = nil
	w.pass(time.Second)
	assert.Len(t, w.engine.order, 1)
	assert.Len(t, w.engine.told, 1)
}

func TestAddAndRemove(t *testing.T) {
	w := newWorld(t)
	s := w.add("day 09:00")
	again, err := w.Add(t.Context(), port.ScheduleRequest{Key: s.ID, Session: s.Session, When: "day 10:00", Text: "other"})
	require.NoError(t, err)
	assert.Equal(t, s.Schedule, again)
	for _, tt := range []struct {
		q    port.ScheduleRequest
		want error
	}{
		{port.ScheduleRequest{Key: uuid.New(), Session: s.Session, When: "soon", Text: "x"}, ErrWhen},
		{port.ScheduleRequest{Key: uuid.New(), Session: s.Session, When: "09:00", Text: " "}, ErrNoText},
		{port.ScheduleRequest{Key: uuid.New(), Session: s.Session, Text: "at 09:00"}, ErrNoText},
		{port.ScheduleRequest{Key: uuid.New(), Session: s.Session, Text: "run at 09:00"}, ErrWhen},
		{port.ScheduleRequest{Key: uuid.New(), Session: uuid.New(), When: "09:00", Text: "x"}, ErrEnded},
	} {
		_, err := w.Add(t.Context(), tt.q)
		assert.ErrorIs(t, err, tt.want)
	}
	_, err = w.Add(t.Context(), port.ScheduleRequest{Key: uuid.New(), Session: s.Session, When: "09:00", Text: "!ls"})
	assert.True(t, refusal.Is(err, refusal.NoBash), err)
	assert.Len(t, w.all, 1)
	_, err = w.Remove(t.Context(), uuid.Nil, s.ID)
	require.NoError(t, err)
	w.none()
	_, err = w.Remove(t.Context(), uuid.Nil, s.ID)
	assert.ErrorIs(t, err, ErrNotFound)
}

// TestP8_RequestOfPastIsLate: a person's message waited for ccbot while its time passed. Handled
// once more after its run, it is not typed again.
func TestP8_RequestOfPastIsLate(t *testing.T) {
	w := newWorld(t)
	asked := w.now
	w.now = w.now.Add(70 * time.Minute)
	for range 2 {
		s, err := w.Add(t.Context(), port.ScheduleRequest{Key: uuid.NewSHA1(uuid.Nil, []byte("message 7")), Session: w.engine.record.ID, Asked: asked, Text: "at 09:00 run"})
		require.NoError(t, err)
		assert.Equal(t, asked.Add(time.Hour), s.Next)
		assert.Equal(t, "run", s.Text)
		w.pass(time.Second)
		w.none()
	}
	assert.Len(t, w.engine.order, 1)
	assert.Equal(t, 10*time.Minute, w.engine.told[0].Late.Truncate(time.Minute))
}

// TestP9_ForgottenSessionHasNoSchedules: a schedule has the text of a prompt.
func TestP9_ForgottenSessionHasNoSchedules(t *testing.T) {
	w := newWorld(t)
	s := w.add("day 09:00")
	require.NoError(t, w.Forget(uuid.New()))
	w.only()
	require.NoError(t, w.Forget(s.Session))
	w.none()
	w.restart()
	w.none()
}

// TestUnknownFieldsStay: a later program has written them.
func TestUnknownFieldsStay(t *testing.T) {
	w := newWorld(t)
	s := w.add("day 09:00")
	path := filepath.Join(w.dir, s.ID.String()+".json")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(data, &fields))
	fields["later"] = "x"
	data, err = json.Marshal(fields)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	w.restart()
	w.pass(time.Hour)
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"later":"x"`)
}

// TestRunWakesAtNewSchedule and ends with its context.
func TestRunWakesAtNewSchedule(t *testing.T) {
	w := newWorld(t)
	w.Now = time.Now
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	w.add(time.Now().In(zoneOf(t, "Europe/Berlin")).Add(24 * time.Hour).Format("2006-01-02 15:04"))
	require.Len(t, w.List(), 1)
	stop()
	assert.ErrorIs(t, <-done, context.Canceled)
}

// TestRowOfSkippedRunsIsMentionedOnce: each is in the schedule, and twice a day one needs a
// message.
func TestRowOfSkippedRunsIsMentionedOnce(t *testing.T) {
	w := newWorld(t)
	w.engine.loop = true
	w.add("every 1m")
	for range 13 * 60 {
		w.pass(time.Minute)
	}
	var mentioned []time.Duration
	for i, r := range w.engine.told {
		require.Equal(t, i, r.Row)
		if r.Mentioned.IsZero() {
			mentioned = append(mentioned, r.At.Sub(monday))
		}
	}
	assert.Equal(t, []time.Duration{time.Minute, 12*time.Hour + time.Minute}, mentioned)
	assert.Equal(t, 13*60-1, w.only().Last.Row)
	w.engine.loop = false
	w.pass(time.Minute)
	w.engine.loop = true
	w.pass(time.Minute)
	assert.Equal(t, port.ScheduleReport{Reason: port.SkipLooped, At: w.now}, *w.only().Last, "a run was sent in between")
}

// TestP4_RemovalDuringKeepSendsNothing: a person removes the schedule while its prompt is queued.
func TestP4_RemovalDuringKeepSendsNothing(t *testing.T) {
	w := newWorld(t)
	s := w.add("day 09:00")
	w.engine.onKeep = func() {
		_, err := w.Remove(t.Context(), uuid.Nil, s.ID)
		require.NoError(t, err)
	}
	w.pass(time.Hour)
	assert.Empty(t, w.engine.kept)
	w.none()
}

// TestP4_RemovedScheduleTakesPromptBack also if its prompt waits in the queue since its time.
func TestP4_RemovedScheduleTakesPromptBack(t *testing.T) {
	w := newWorld(t)
	w.engine.turn = outcome.Open // the agent works on something else: the prompt waits
	s := w.add("day 09:00")
	w.pass(24 * time.Hour)
	require.NotEmpty(t, w.engine.kept)
	_, err := w.Remove(t.Context(), uuid.Nil, s.ID)
	require.NoError(t, err)
	w.pass(time.Minute)
	assert.Empty(t, w.engine.kept)
}
