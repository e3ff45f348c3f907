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
)

func TestOnceIsSentAndOver(t *testing.T) {
	w := newWorld(t)
	s := w.add("09:00")
	w.pass(59 * time.Minute)
	assert.Empty(t, w.engine.order)
	w.pass(time.Minute)
	assert.Equal(t, []Report{{At: s.Next()}}, w.engine.told)
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
	w.engine.zone = "America/New_York"
	w.pass(24 * time.Hour)
	next := w.only()
	assert.Equal(t, "09:00", next.Next().In(zoneOf(t, "America/New_York")).Format("15:04"))
}

func TestMissedRuns(t *testing.T) {
	at := func(day, hour int) time.Time { return time.Date(2027, 3, day, hour, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name   string
		change func(q *Request)
		after  time.Duration
		want   []Report
		sent   int
	}{
		{"once, with the delay", func(*Request) {}, 4 * time.Hour, []Report{{At: at(1, 8), Late: 3 * time.Hour}}, 1},
		{"never batched", func(*Request) {}, 76 * time.Hour, []Report{{At: at(4, 8), Late: 3 * time.Hour, Left: 3}}, 1},
		{"skipped", skipMissed, 76 * time.Hour, []Report{{Reason: Missed, At: at(4, 8), Left: 3}}, 0},
		{"skipped but for the present one", skipMissed, 73 * time.Hour, []Report{{At: at(4, 8), Left: 3}}, 1},
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
	assert.Equal(t, Report{Reason: ClockBack, At: time.Date(2027, 3, 2, 8, 0, 0, 0, time.UTC)}, w.engine.told[1])
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
		reason Reason
	}{
		{"the turn runs", func(e *fakeEngine) { e.turn = outcome.Open }, Busy},
		{"a dialog is open", func(e *fakeEngine) { e.turn = outcome.Asks }, Busy},
		{"a person is asked about the prompt", func(e *fakeEngine) { e.turn = outcome.Undecided }, Busy},
		{"a loop has the session", func(e *fakeEngine) { e.loop = true }, Looped},
		{"it is not resumed", func(e *fakeEngine) { e.record.State, e.refused = session.Lost, "another writer" }, NotResumed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.add("day 09:00")
			w.pass(time.Hour - time.Second)
			if tt.reason == Busy {
				tt.change(w.engine)
			}
			w.pass(time.Second)
			tt.change(w.engine)
			w.pass(24 * time.Hour)
			require.Len(t, w.engine.told, 2)
			assert.Equal(t, Report{Reason: tt.reason, At: time.Date(2027, 3, 2, 8, 0, 0, 0, time.UTC), Detail: w.engine.refused}, w.engine.told[1])
			w.engine.turn, w.engine.loop, w.engine.refused = outcome.Answered, false, ""
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
			assert.Equal(t, []Report{{Reason: SessionEnded}}, w.engine.told)
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
	assert.Equal(t, []Report{{Reason: Forgotten}}, w.engine.told)
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
	again, err := w.Add(Request{Key: s.ID, Session: s.Session, When: "day 10:00", Text: "other"})
	require.NoError(t, err)
	assert.Equal(t, s, again)
	for _, tt := range []struct {
		q    Request
		want error
	}{
		{Request{Key: uuid.New(), Session: s.Session, When: "soon", Text: "x"}, ErrWhen},
		{Request{Key: uuid.New(), Session: s.Session, When: "09:00", Text: " "}, ErrNoText},
		{Request{Key: uuid.New(), Session: uuid.New(), When: "09:00", Text: "x"}, ErrNoSession},
	} {
		_, err := w.Add(tt.q)
		assert.ErrorIs(t, err, tt.want)
	}
	_, err = w.Remove(s.ID)
	require.NoError(t, err)
	w.none()
	_, err = w.Remove(s.ID)
	assert.ErrorIs(t, err, ErrNotFound)
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
	w.add(time.Now().In(zoneOf(t, "Europe/Berlin")).Add(24 * time.Hour).Format(clockOnDay))
	require.Len(t, w.List(), 1)
	stop()
	assert.ErrorIs(t, <-done, context.Canceled)
}
