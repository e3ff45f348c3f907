package schedule

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/refusal"
)

// dies is an engine whose agent ends before it is ready.
type dies struct{ *fakeEngine }

func (d dies) Resume(context.Context, uuid.UUID) (*refusal.Error, error) {
	d.resumed++
	d.record.State = session.Failed
	return nil, d.err
}

// TestP8_SessionThatCannotStartIsSkipped: it is resumed three times, also over restarts, with
// longer and longer pauses. The next occurrence is tried again.
func TestP8_SessionThatCannotStartIsSkipped(t *testing.T) {
	w := newWorld(t)
	w.add("day 09:00")
	w.engine.record.State = session.Lost
	engine := w.engine
	w.Engine = dies{engine}
	w.pass(time.Hour)
	assert.Equal(t, 1, w.only().Run.Tries)
	var at []int
	for second := range 600 {
		was := engine.resumed
		w.restart()
		w.Engine = dies{engine}
		if w.pass(time.Second); engine.resumed > was {
			at = append(at, second+1)
		}
	}
	assert.Equal(t, []int{60, 180}, at)
	assert.Equal(t, []port.ScheduleReport{{Reason: port.SkipNotStarted, At: monday.Add(time.Hour)}}, engine.told)
	assert.Nil(t, w.only().Run)
	w.Engine = engine
	w.pass(24 * time.Hour)
	w.pass(time.Second)
	assert.Len(t, engine.order, 1)
}

// TestP8_ResumeIsCountedBeforeIt: ccbot dies while it resumes.
func TestP8_ResumeIsCountedBeforeIt(t *testing.T) {
	w := newWorld(t)
	s := w.add("day 09:00")
	w.engine.record.State = session.Lost
	w.Engine = counted{w.engine, func() { assert.Equal(t, 1, w.only().Run.Tries) }}
	w.pass(time.Hour)
	assert.Equal(t, 1, w.engine.resumed)
	w.pass(time.Second)
	assert.Equal(t, []port.ScheduleReport{{At: s.Next}}, w.engine.told)
}

type counted struct {
	*fakeEngine
	before func()
}

func (c counted) Resume(ctx context.Context, id uuid.UUID) (*refusal.Error, error) {
	c.before()
	return c.fakeEngine.Resume(ctx, id)
}

// TestP8_ErrorOfResumeIsSkipped: an error without a sentence for the chat is tried as often.
func TestP8_ErrorOfResumeIsSkipped(t *testing.T) {
	w := newWorld(t)
	w.add("day 09:00")
	w.engine.record.State = session.Lost
	w.Engine = fails{w.engine}
	w.pass(time.Hour)
	for range 600 {
		w.pass(time.Second)
	}
	assert.Equal(t, 3, w.engine.resumed)
	assert.Equal(t, []port.ScheduleReport{{Reason: port.SkipNotStarted, At: monday.Add(time.Hour)}}, w.engine.told)
}

type fails struct{ *fakeEngine }

func (f fails) Resume(context.Context, uuid.UUID) (*refusal.Error, error) {
	f.resumed++
	return nil, errors.New("no")
}

// TestP8_PauseOutlivesClock: the clock goes back between two tries.
func TestP8_PauseOutlivesClock(t *testing.T) {
	w := newWorld(t)
	w.add("day 09:00")
	w.engine.record.State = session.Lost
	w.Engine = dies{w.engine}
	w.pass(time.Hour)
	w.pass(-time.Minute)
	assert.Equal(t, 2, w.engine.resumed)
}

// TestP8_LoopThatBeganIsNotDisturbed: it began while the session of the run came back, or before
// the session was resumed.
func TestP8_LoopThatBeganIsNotDisturbed(t *testing.T) {
	for _, state := range []session.State{session.Running, session.Lost} {
		w := newWorld(t)
		w.add("09:00")
		w.engine.record.State = session.Starting
		w.pass(time.Hour)
		require.NotNil(t, w.only().Run)
		w.engine.loop, w.engine.record.State = true, state
		w.pass(time.Second)
		assert.Empty(t, w.engine.order, "a prompt is sent while a loop has the session")
		assert.Zero(t, w.engine.resumed)
		assert.Equal(t, []port.ScheduleReport{{Reason: port.SkipLooped, At: monday.Add(time.Hour)}}, w.engine.told)
		w.none()
	}
}

// TestP8_UnreadableRecordDecidesNothing: the schedule stays, and the log is not filled.
func TestP8_UnreadableRecordDecidesNothing(t *testing.T) {
	w := newWorld(t)
	w.add("day 09:00")
	w.engine.known = false
	w.Engine = unread{w.engine}
	var lines strings.Builder
	w.Log = slog.New(slog.NewTextHandler(&lines, nil))
	for range 3600 {
		w.pass(time.Second)
	}
	assert.Empty(t, w.engine.told)
	assert.Less(t, strings.Count(lines.String(), "schedule_step_failed"), 25)
	w.Engine, w.engine.known = w.engine, true
	w.pass(10 * time.Minute)
	assert.Len(t, w.engine.order, 1)
}

type unread struct{ *fakeEngine }

func (unread) Session(uuid.UUID) (session.Record, bool, error) {
	return session.Record{}, false, errors.New("the record was not read")
}

// removing is an engine during whose look at a due run a person removes the schedule.
type removing struct {
	*fakeEngine
	remove func()
}

func (r removing) Kept(key uuid.UUID) (bool, error) {
	r.remove()
	return r.fakeEngine.Kept(key)
}

// TestRemovedScheduleIsNotSent: it was removed after its run had begun.
func TestRemovedScheduleIsNotSent(t *testing.T) {
	w := newWorld(t)
	s := w.add("08:05")
	w.Engine = removing{w.engine, func() {
		_, err := w.Remove(t.Context(), uuid.Nil, s.ID)
		require.NoError(t, err)
	}}
	w.pass(6 * time.Minute)
	assert.Empty(t, w.engine.kept)
	assert.Empty(t, w.engine.told)
	w.none()
}
