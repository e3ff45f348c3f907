package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/schedule"
)

// schedules are the schedules as the disk has them.
func (w *world) schedules() (all []schedule.Schedule) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.state, "schedules", "*.json"))
	require.NoError(w.t, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if os.IsNotExist(err) { // it has just ended
			continue
		}
		require.NoError(w.t, err)
		var s schedule.Schedule
		require.NoError(w.t, json.Unmarshal(data, &s))
		all = append(all, s)
	}
	return all
}

// schedule puts a schedule on disk that was made two days ago, while no bot runs.
func (w *world) schedule(name, text, spec string, change func(s *schedule.Schedule)) {
	w.t.Helper()
	made := time.Now().Add(-48 * time.Hour).UTC()
	r := w.record(name)
	s := schedule.Schedule{Version: schedule.Version, Conversation: r.Conversation, Spec: spec, Decided: made, Schedule: port.Schedule{ID: uuid.New(), Session: r.ID,
		Name: name, When: "a time", Zone: "Local", Text: text, CreatedAt: made}}
	change(&s)
	w.save(s)
}

// save writes a schedule to disk, while no bot runs.
func (w *world) save(s schedule.Schedule) {
	w.t.Helper()
	data, err := json.Marshal(s)
	require.NoError(w.t, err)
	require.NoError(w.t, os.MkdirAll(filepath.Join(w.state, "schedules"), 0o700))
	require.NoError(w.t, os.WriteFile(filepath.Join(w.state, "schedules", s.ID.String()+".json"), data, 0o600))
}

// TestP8_ScheduleOutlivesRestart: a time passes while no bot runs and while tmux is down; another
// one comes while the bot runs, over a kill -9.
func TestP8_ScheduleOutlivesRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	code, _, errs := term.call("ccbot schedule add work soon 'say no'").end()
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "the time is not understood")
	w.stop()
	w.powerOff()
	hour := time.Now().Add(-time.Hour).Format("4 15 * * *")
	w.schedule("work", "say I am late", hour, func(*schedule.Schedule) {})
	w.schedule("work", "say I am skipped", hour, func(s *schedule.Schedule) { s.SkipMissed = true })
	w.start()
	w.hear(0, "Scheduled prompt for work, 1 h late: say I am late")
	w.hear(0, "1 earlier time was missed and left out.")
	w.hear(0, "was skipped. The machine was off or asleep")
	w.until("the prompt is typed", func() bool { return slices.Contains(w.received(), "say I am late") })
	assert.Equal(t, session.Running, w.record("work").State)

	term = w.newTerminal()
	added := term.says("ccbot schedule add work 'at 1m' 'say I am due' --json")
	assert.Contains(t, added, `"next"`)
	assert.Contains(t, term.says("ccbot schedule list"), "say I am due")
	w.kill9()
	for _, s := range w.schedules() {
		if s.Text == "say I am due" { // soon: a minute would only be waited for
			s.Spec = "@at " + time.Now().Add(5*time.Second).UTC().Format(time.RFC3339)
			w.save(s)
		}
	}
	w.start()
	w.until("the prompt is typed", func() bool { return slices.Contains(w.received(), "say I am due") })
	w.hear(0, "say I am due")
	w.until("both prompts are announced", func() bool { return w.heard("Scheduled prompt for work") == 2 })
	w.until("the schedule is over", func() bool { return len(w.schedules()) == 2 })
	assert.Equal(t, []string{"say I am late", "say I am due"}, w.received())
	for _, s := range w.schedules() {
		term.says("ccbot schedule remove " + s.ID.String())
	}
	assert.Empty(t, w.schedules())
}

// TestScheduleEndsWithSession: a person ends the session for good.
func TestScheduleEndsWithSession(t *testing.T) {
	inShortRun(t, "a schedule")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	term.says("ccbot schedule add work 'every 2h' 'say never'")
	term.says("ccbot archive work --yes")
	w.stop()
	w.edit(w.record("work").ID, func(r recordFile) { r.set("ended_at", time.Now().Add(-time.Hour).UTC()) })
	w.start()
	w.hear(0, "The schedule of work has ended: every 2h. The session has ended.")
	w.until("the schedule is gone", func() bool { return len(w.schedules()) == 0 })
	assert.Empty(t, w.received())
}

// TestP8_EveryFromChatOutlivesRestart: a schedule that was made in the chat sends its prompt once,
// over a kill -9 between. Its time passes while no bot runs.
func TestP8_EveryFromChatOutlivesRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("/every day say I am due")
	w.hear(0, "No clear time was found in this text")
	w.say("/every " + time.Now().Add(12*time.Hour).Format("15:04") + " say I am due")
	w.hear(0, "Schedule of work: every ")
	require.Len(t, w.schedules(), 1)
	w.kill9()
	made := w.schedules()[0]
	made.Decided = made.Decided.Add(-24 * time.Hour)
	w.save(made)
	w.start()
	w.hear(0, "Scheduled prompt for work, 12 h late: say I am due")
	w.until("the prompt is typed", func() bool { return slices.Contains(w.received(), "say I am due") })
	w.kill9()
	w.start()
	w.say("/schedules")
	w.hear(0, "1. work: every ")
	w.until("the run is over", func() bool { all := w.schedules(); return len(all) == 1 && all[0].Run == nil })
	assert.Equal(t, []string{"say I am due"}, w.received())
}
