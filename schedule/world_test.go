package schedule

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/refusal"
)

// fakeEngine has one session.
type fakeEngine struct {
	queues  bool // prompts wait in the queue
	record  session.Record
	known   bool
	kept    map[uuid.UUID]string // the prompts that were ever kept
	order   []uuid.UUID
	turn    outcome.Kind // of the last prompt
	loop    bool
	refused *refusal.Error // of Resume
	resumed int
	told    []port.ScheduleReport
	can     port.Abilities
	err     error // of each call that may fail
	onKeep  func()
}

func (e *fakeEngine) Session(id uuid.UUID) (session.Record, bool, error) {
	return e.record, e.known && id == e.record.ID, nil
}

func (e *fakeEngine) Keep(_ context.Context, _, key uuid.UUID, text string) error {
	if _, is := e.kept[key]; is || e.err != nil {
		return e.err
	}
	e.kept[key], e.order = text, append(e.order, key)
	if e.onKeep != nil {
		e.onKeep()
	}
	return nil
}

func (e *fakeEngine) Withdraw(_ context.Context, _, key uuid.UUID) error {
	delete(e.kept, key)
	return e.err
}

func (e *fakeEngine) Kept(key uuid.UUID) (bool, error) {
	_, is := e.kept[key]
	return is, nil
}

func (e *fakeEngine) Outcome(context.Context, session.Record, uuid.UUID, *outcome.Prompt) (outcome.Outcome, outcome.Prompt, error) {
	return outcome.Outcome{Kind: e.turn}, outcome.Prompt{Finished: !e.queues}, e.err
}

func (e *fakeEngine) Resume(context.Context, uuid.UUID) (*refusal.Error, error) {
	e.resumed++
	if e.refused == nil && e.err == nil {
		e.record.State = session.Running
	}
	return e.refused, e.err
}

func (e *fakeEngine) Abilities(session.Record) port.Abilities { return e.can }

func (e *fakeEngine) Looped(uuid.UUID) bool { return e.loop }

func (e *fakeEngine) Tell(_ context.Context, _ Schedule, r port.ScheduleReport) error {
	if e.err == nil {
		e.told = append(e.told, r)
	}
	return e.err
}

// world is a Keeper with a fake engine and a clock that is set.
type world struct {
	*Keeper
	t      testing.TB
	dir    string
	engine *fakeEngine
	now    time.Time
	zone   string
}

// monday is 08:00 in Berlin.
var monday = time.Date(2027, 3, 1, 7, 0, 0, 0, time.UTC)

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "schedules"), now: monday, zone: "Europe/Berlin", engine: &fakeEngine{known: true, turn: outcome.Answered,
		kept: make(map[uuid.UUID]string), record: session.Record{ID: uuid.New(), Name: "api", State: session.Running}}}
	w.restart()
	return w
}

// restart is a new Keeper for the same files, as after kill -9.
func (w *world) restart() {
	w.t.Helper()
	w.Keeper = &Keeper{Engine: w.engine, Zone: w.zone, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler)}
	require.NoError(w.t, w.Open(w.dir, filepath.Join(filepath.Dir(w.dir), "quarantine")))
}

func (w *world) add(when string, more ...func(q *port.ScheduleRequest)) Schedule {
	w.t.Helper()
	q := port.ScheduleRequest{Key: uuid.New(), Session: w.engine.record.ID, When: when, Text: "do it"}
	for _, change := range more {
		change(&q)
	}
	s, err := w.Add(context.Background(), q)
	require.NoError(w.t, err)
	return w.all[s.ID].Clone()
}

func skipMissed(q *port.ScheduleRequest) { q.SkipMissed = true }

// pass lets time pass, and then looks at the clock.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.now = w.now.Add(d)
	w.advance(w.t.Context())
}

// only is the only schedule, as the disk has it.
func (w *world) only() Schedule {
	w.t.Helper()
	all, err := read(spool.Folder{Path: w.dir}, "", w.Log)
	require.NoError(w.t, err)
	require.Len(w.t, all, 1)
	return all[0]
}

// none reports that no schedule is on disk.
func (w *world) none() {
	w.t.Helper()
	all, err := Read(w.dir, w.Log)
	require.NoError(w.t, err)
	require.Empty(w.t, all)
}

// List returns all schedules, without an error.
func (w *world) List() []port.Schedule {
	all, _ := w.Keeper.List(context.Background())
	return all
}
