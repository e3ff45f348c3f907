package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// fixture is a ccbot with a real store of records and scripted agents.
type fixture struct {
	t     *testing.T
	base  string
	store *session.Store
	log   bytes.Buffer
	copies

	mu       sync.Mutex
	looks    map[uuid.UUID]view.Status
	panics   map[uuid.UUID]bool
	fails    map[uuid.UUID]error // of ArchiveQuiet
	looked   int                 // number of session scans
	rounds   int                 // how often one or several of them were
	passed   time.Duration
	archived []uuid.UUID
	asked    []Due
	cleared  []uuid.UUID
	clear    func(session.Record) error
}

// inFixture runs the test in a bubble: its clock moves when all goroutines in it wait.
func inFixture(t *testing.T, test func(t *testing.T, h *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &fixture{t: t, base: t.TempDir(), looks: make(map[uuid.UUID]view.Status), panics: make(map[uuid.UUID]bool),
			fails: make(map[uuid.UUID]error), copies: copies{kept: make(map[uuid.UUID]bool)}}
		h.open()
		test(t, h)
	})
}

// open reads the store from disk, as a start of ccbot does.
func (h *fixture) open() {
	store, err := session.Open(filepath.Join(h.base, "sessions"), filepath.Join(h.base, "quarantine"), time.Now, slog.New(slog.DiscardHandler), nil)

	require.NoError(h.t, err)
	h.store = store
}

// add puts a session into the store; it is idle, and nothing has happened since.
func (h *fixture) add(change ...func(*session.Record)) session.Record {
	h.t.Helper()
	now := time.Now().UTC()
	r := session.Record{ID: uuid.New(), Name: "api", Dir: "/src/api", State: session.Running,
		AgentSessionID: uuid.New(), CreatedAt: now}
	for _, c := range change {
		c(&r)
	}
	require.NoError(h.t, h.store.Create(r))
	h.show(r.ID, quietLook(now))
	time.Sleep(time.Millisecond) // the next one is younger
	return r
}

// gone is a session that ended that long before now.
func gone(ago time.Duration) func(*session.Record) {
	return func(r *session.Record) { r.State, r.EndedAt = session.Archived, time.Now().UTC().Add(-ago) }
}

func (h *fixture) show(id uuid.UUID, l view.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks[id] = l
}

func (h *fixture) Inspector(context.Context) func(session.Record) view.Status {
	first := true
	return func(r session.Record) view.Status {
		h.mu.Lock()
		defer h.mu.Unlock()
		if first {
			h.rounds++
		}
		first = false
		h.looked++
		if h.panics[r.ID] {
			panic("a screen nobody has seen before")
		}
		return h.looks[r.ID]
	}
}

// ArchiveQuiet checks again, as lifecycle does.
func (h *fixture) ArchiveQuiet(ctx context.Context, id uuid.UUID, q port.Silence) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, Due{Session: id, Since: q.Since, Quiet: q.Quiet})
	if err := h.fails[id]; err != nil {
		return err
	}
	if l := h.looks[id]; !l.Quiet() || l.Active.After(q.Since) {
		return lifecycle.ErrChanged
	}
	h.archived = append(h.archived, id)
	return h.store.Do(ctx, id, func(r *session.Record, save func() error) error {
		r.State, r.EndedAt = session.Archived, time.Now().UTC()
		return save()
	})
}

// keeper starts a new run of ccbot, until stop is called.
func (h *fixture) keeper(idle, purge time.Duration) (stop func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	k := h.newKeeper(idle, purge)
	var wg sync.WaitGroup
	wg.Go(func() { assert.ErrorIs(h.t, k.Run(ctx), context.Canceled) })
	synctest.Wait()
	return func() {
		cancel()
		wg.Wait()
	}
}

// limit stores the limit of one session.
func (h *fixture) limit(id uuid.UUID, after time.Duration) {
	h.t.Helper()
	require.NoError(h.t, h.store.Do(h.t.Context(), id, func(r *session.Record, save func() error) error {
		r.IdleAfter = &after
		return save()
	}))
}

func (h *fixture) newKeeper(idle, purge time.Duration) *Keeper {
	return &Keeper{Agents: agents, Sessions: h, Observer: h, Records: h.store, Copies: &h.copies, Liveness: func(process.Identity) process.Liveness { return process.Alive }, IdleAfter: idle, PurgeAfter: purge, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(&h.log, nil)), Clear: func(_ context.Context, r session.Record) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.cleared = append(h.cleared, r.ID)
			if h.clear != nil {
				return h.clear(r)
			}
			return nil
		}}
}

// copies are the copies of records, in memory.
type copies struct {
	kept   map[uuid.UUID]bool
	looked int   // number of scans for old records
	err    error // of Keep and Erase
}

func (c *copies) Keep(id uuid.UUID) error {
	if c.err == nil {
		c.kept[id] = true
	}
	return c.err
}

func (c *copies) Expire() error {
	c.looked++
	return nil
}

func (c *copies) Erase(_ context.Context, id uuid.UUID) error {
	if c.err == nil {
		delete(c.kept, id)
	}
	return c.err
}

// pass lets time go by.
func (h *fixture) pass(d time.Duration) {
	h.mu.Lock() // orders the test's accesses before the keeper's next ones
	h.passed += d
	h.mu.Unlock()
	time.Sleep(d)
	synctest.Wait()
}

func (h *fixture) there(id uuid.UUID) bool {
	_, inMemory := h.store.Get(id)
	_, err := os.Stat(filepath.Join(h.base, "sessions", id.String()+".json"))
	assert.Equal(h.t, inMemory, err == nil, "memory and disk agree")
	return inMemory
}

func TestQuietSessionIsArchived(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		r := h.add()
		stop := h.keeper(6*time.Hour, 0)
		defer stop()
		h.pass(6*time.Hour - time.Second)
		assert.Empty(t, h.asked)
		h.pass(time.Second)
		assert.Equal(t, []uuid.UUID{r.ID}, h.archived)
		assert.Equal(t, []Due{{Session: r.ID, Since: h.looks[r.ID].Active, Quiet: 6 * time.Hour}}, h.asked)
		h.pass(24 * time.Hour)
		assert.Len(t, h.asked, 1, "it is over")
		assert.Contains(t, h.log.String(), "msg=idle_archived session_id="+r.ID.String()+" quiet=6h0m0s")
	})
}

// TestStartArchivesNothing: ccbot was away for longer than the time.
func TestStartArchivesNothing(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		r := h.add()
		stop := h.keeper(time.Hour, 0)
		h.pass(59 * time.Minute)
		stop()
		h.pass(100 * time.Hour)
		h.open()
		stop = h.keeper(time.Hour, 0)
		defer stop()
		h.pass(time.Hour - time.Second)
		assert.Empty(t, h.asked, "it gets the whole time again")
		h.pass(time.Second)
		assert.Equal(t, []uuid.UUID{r.ID}, h.archived)
	})
}

func TestSignOfLifeRestartsTime(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		r := h.add()
		stop := h.keeper(time.Hour, 0)
		defer stop()
		h.pass(50 * time.Minute)
		h.show(r.ID, quietLook(time.Now()))
		h.pass(64 * time.Minute)
		assert.Empty(t, h.asked)
		h.pass(6 * time.Minute)
		assert.Equal(t, []uuid.UUID{r.ID}, h.archived)
	})
}

// TestLateSignOfLifeKeepsSession: lifecycle is given the sign
// of life that the decision was made on, and finds a later one.
func TestLateSignOfLifeKeepsSession(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		first, second := h.add(), h.add()
		decided := h.looks[second.ID].Active
		h.fails[first.ID] = errors.New("tmux is busy")
		var once sync.Once
		k := &Keeper{Agents: agents, Sessions: meanwhile{h, func() { once.Do(func() { h.show(second.ID, quietLook(time.Now())) }) }},
			Observer: h, Records: h.store, Copies: &h.copies, IdleAfter: time.Hour, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, k.Run(ctx), context.Canceled) })
		h.pass(time.Hour)
		require.Len(t, h.asked, 2)
		assert.Equal(t, Due{Session: second.ID, Since: decided, Quiet: time.Hour}, h.asked[1])
		assert.Empty(t, h.archived)
		h.pass(time.Hour + 4*time.Minute)
		assert.Empty(t, h.archived, "its time began again")
		h.pass(time.Minute)
		assert.Equal(t, []uuid.UUID{second.ID}, h.archived)
		cancel()
		wg.Wait()
	})
}

// meanwhile calls before ahead of each archive, which may take a while.
type meanwhile struct {
	*fixture
	before func()
}

func (m meanwhile) ArchiveQuiet(ctx context.Context, id uuid.UUID, q port.Silence) error {
	m.before()
	return m.fixture.ArchiveQuiet(ctx, id, q)
}

func TestSessionErrorStopsNoOther(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		failing, strange, fine := h.add(), h.add(), h.add()
		h.fails[failing.ID] = errors.New("tmux is busy")
		h.panics[strange.ID] = true
		stop := h.keeper(time.Hour, 0)
		defer stop()
		h.pass(time.Hour)
		assert.Equal(t, []uuid.UUID{fine.ID}, h.archived)
		assert.Contains(t, h.log.String(), `msg=idle_archive_failed session_id=`+failing.ID.String()+` error="tmux is busy"`)
		assert.Contains(t, h.log.String(), `msg=idle_look_failed session_id=`+strange.ID.String())

		h.fails[failing.ID], h.panics[strange.ID] = nil, false
		h.pass(5 * time.Minute)
		assert.Contains(t, h.archived, failing.ID, "it is tried again at the next pass")
		assert.NotContains(t, h.archived, strange.ID, "it has not been seen for an hour")
		h.pass(time.Hour)
		assert.Contains(t, h.archived, strange.ID)
	})
}

func TestOnlyRunningSessionsAreLookedAt(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		for _, state := range session.States() {
			if state != session.Running {
				h.add(func(r *session.Record) { r.State = state })
			}
		}
		stop := h.keeper(time.Hour, 0)
		defer stop()
		h.pass(48 * time.Hour)
		assert.Zero(t, h.looked)
		assert.Empty(t, h.asked)
	})
}

func TestHowOftenIsLooked(t *testing.T) {
	for _, tt := range []struct {
		name        string
		idle, purge time.Duration
		want        int // looks at each session in a day
	}{
		{"the default", 6 * time.Hour, twoWeeks, 24*6 + 1},
		{"archive off", 0, twoWeeks, 0},
		{"all off", 0, 0, 0},
		{"an hour", time.Hour, 0, 24*12 + 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, h *fixture) {
				for range 2 {
					h.show(h.add().ID, view.Status{Phase: talk.PhaseWorking})
				}
				stop := h.keeper(tt.idle, tt.purge)
				defer stop()
				h.pass(24 * time.Hour)
				assert.Equal(t, 2*tt.want, h.looked)
				assert.Equal(t, tt.want, h.rounds, "one look at the processes serves all sessions")
			})
		})
	}
}

// TestNewSessionWakesKeeper that started without sessions: a short limit holds for the session.
func TestNewSessionWakesKeeper(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		k, woken := h.newKeeper(time.Minute, 0), make(chan struct{})
		k.Woken = woken
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, k.Run(ctx), context.Canceled) })
		defer func() { cancel(); wg.Wait() }()
		synctest.Wait()
		r := h.add(func(r *session.Record) { r.State = session.Starting })
		woken <- struct{}{}
		synctest.Wait()
		require.NoError(t, h.store.Do(t.Context(), r.ID, func(r *session.Record, save func() error) error {
			r.State = session.Running
			return save()
		}))
		h.pass(time.Minute + 10*time.Second) // two intervals longer at most
		assert.Equal(t, []uuid.UUID{r.ID}, h.archived)
	})
}

// TestChangedLimitWakesKeeper: the interval of the earlier limit would be too long.
func TestChangedLimitWakesKeeper(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		k, woken := h.newKeeper(24*time.Hour, 0), make(chan struct{})
		k.Woken = woken
		r := h.add()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, k.Run(ctx), context.Canceled) })
		defer func() { cancel(); wg.Wait() }()
		synctest.Wait()
		h.limit(r.ID, time.Minute)
		woken <- struct{}{}
		h.pass(time.Minute + 10*time.Second)
		assert.Equal(t, []uuid.UUID{r.ID}, h.archived)
	})
}

// The limit in a session's record holds from the next sweep.
func TestIdleLimitPerSession(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		short, long, never := h.add(), h.add(), h.add()
		h.limit(short.ID, time.Hour)
		h.limit(never.ID, 0)
		busy := h.add()
		k := h.newKeeper(6*time.Hour, 0)
		k.Busy = func(id uuid.UUID) bool { return id == busy.ID }
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { assert.ErrorIs(t, k.Run(ctx), context.Canceled) })
		archived := func() (ids []uuid.UUID) {
			for _, d := range h.asked {
				ids = append(ids, d.Session)
			}
			return ids
		}
		h.pass(2 * time.Hour)
		assert.Equal(t, []uuid.UUID{short.ID}, archived())
		h.pass(5 * time.Hour)
		assert.Equal(t, []uuid.UUID{short.ID, long.ID}, archived())
		h.limit(never.ID, time.Hour) // earlier time does not count: it was not scanned
		h.pass(50 * time.Minute)
		assert.Len(t, archived(), 2)
		h.pass(time.Hour)
		assert.Equal(t, []uuid.UUID{short.ID, long.ID, never.ID}, archived())
		cancel()
		wg.Wait()
	})
}

// TestPassWritesNothing: an idle ccbot leaves the disk alone.
func TestPassWritesNothing(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		r := h.add()
		h.show(r.ID, view.Status{Phase: talk.PhaseWorking})
		h.add(gone(time.Hour))
		before := h.files()
		stop := h.keeper(6*time.Hour, twoWeeks)
		defer stop()
		h.pass(48 * time.Hour)
		assert.Equal(t, before, h.files())
		assert.Empty(t, h.log.String())
	})
}

// files are all files with size and time of change.
func (h *fixture) files() map[string]string {
	all := make(map[string]string)
	require.NoError(h.t, filepath.WalkDir(h.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		all[path] = fmt.Sprint(info.Size(), info.ModTime())
		return err
	}))
	return all
}

func TestExpiredRecordsAreRemoved(t *testing.T) {
	for name, idle := range map[string]time.Duration{"alone": 0, "beside the sweep": 6 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, h *fixture) {
				old, soon, live := h.add(gone(twoWeeks)), h.add(gone(twoWeeks-90*time.Minute)), h.add()
				h.show(live.ID, view.Status{Phase: talk.PhaseWorking})
				failed := h.add(gone(10*twoWeeks), func(r *session.Record) { r.State = session.CleanupFailed })
				stop := h.keeper(idle, twoWeeks)
				defer stop()
				assert.False(t, h.there(old.ID))
				assert.True(t, h.there(soon.ID))
				h.pass(89 * time.Minute)
				assert.True(t, h.there(soon.ID))
				h.pass(longest)
				assert.False(t, h.there(soon.ID))
				h.pass(10 * twoWeeks)
				assert.True(t, h.there(failed.ID))
				assert.True(t, h.there(live.ID))
				assert.Equal(t, []uuid.UUID{old.ID, soon.ID}, h.cleared)
				assert.Contains(t, h.log.String(), "msg=session_purged session_id="+old.ID.String())
			})
		})
	}
}

// A short time counts as well: it does not wait for the longest time between two scans.
func TestShortPurgeTime(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		stop := h.keeper(0, 24*time.Second)
		defer stop()
		r := h.add(gone(0))
		h.pass(23 * time.Second)
		assert.True(t, h.there(r.ID))
		h.pass(3 * time.Second)
		assert.False(t, h.there(r.ID))
	})
}

func TestArchivedSessionExpires(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		r := h.add()
		stop := h.keeper(time.Hour, 24*time.Hour)
		defer stop()
		h.pass(time.Hour)
		require.Equal(t, []uuid.UUID{r.ID}, h.archived)
		h.pass(24*time.Hour - time.Second)
		assert.True(t, h.there(r.ID))
		h.pass(time.Hour)
		assert.False(t, h.there(r.ID))
	})
}

// TestP8_ResumedRecordStays: a restore holds the worker while the purge
// waits for it.
func TestP8_ResumedRecordStays(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		r := h.add(gone(2 * twoWeeks))
		release := make(chan struct{})
		var restore sync.WaitGroup
		restore.Go(func() {
			assert.NoError(t, h.store.Do(t.Context(), r.ID, func(r *session.Record, save func() error) error {
				<-release
				r.State = session.Restoring
				return save()
			}))
		})
		synctest.Wait()
		stop := h.keeper(0, twoWeeks)
		defer stop()
		close(release)
		restore.Wait()
		synctest.Wait()
		assert.True(t, h.there(r.ID))
		assert.Empty(t, h.cleared)
		got, _ := h.store.Get(r.ID)
		assert.Equal(t, session.Restoring, got.State)
	})
}

// TestP4_PendingMessagesAreReportedBeforePurge: as long as that fails, the record
// stays, and the others go.
func TestP4_PendingMessagesAreReportedBeforePurge(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		r := h.add(gone(twoWeeks), func(r *session.Record) { r.Prompts = []string{"7"} })
		strange := h.add(gone(twoWeeks))
		other := h.add(gone(twoWeeks))
		full := true
		h.clear = func(c session.Record) error {
			switch {
			case full && c.ID == r.ID:
				return errors.New("the disk is full")
			case full && c.ID == strange.ID:
				panic("an entry nobody has seen before")
			}
			assert.True(t, h.there(c.ID), "told first")
			return nil
		}
		stop := h.keeper(0, twoWeeks)
		defer stop()
		assert.True(t, h.there(r.ID))
		assert.True(t, h.there(strange.ID))
		assert.False(t, h.there(other.ID))
		assert.Contains(t, h.log.String(), "msg=purge_failed session_id="+r.ID.String())
		assert.Contains(t, h.log.String(), "the disk is full")
		full = false
		h.pass(time.Hour)
		assert.False(t, h.there(r.ID))
		assert.False(t, h.there(strange.ID))
	})
}

// TestP8_InterruptedPurgeIsFinished: what belongs to the record is gone,
// the record is not.
func TestP8_InterruptedPurgeIsFinished(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		r := h.add(gone(twoWeeks))
		ctx, die := context.WithCancel(t.Context())
		k := &Keeper{Agents: agents, Observer: h, Records: h.store, Copies: &h.copies, IdleAfter: 0, PurgeAfter: twoWeeks, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Clear: func(context.Context, session.Record) error { die(); return ctx.Err() }}
		assert.ErrorIs(t, k.Run(ctx), context.Canceled)
		assert.True(t, h.there(r.ID))
		h.open()
		stop := h.keeper(0, twoWeeks)
		defer stop()
		assert.False(t, h.there(r.ID))
		assert.Equal(t, []uuid.UUID{r.ID}, h.cleared)
	})
}

// An error caused by the stop of ccbot is not reported.
func TestStopEndsPass(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		h.add(gone(twoWeeks))
		h.add(gone(twoWeeks))
		ctx, stop := context.WithCancel(t.Context())
		var cleared int
		k := &Keeper{Agents: agents, Observer: h, Records: h.store, Copies: &h.copies, IdleAfter: 0, PurgeAfter: twoWeeks, Now: time.Now, Log: slog.New(slog.NewTextHandler(&h.log, nil)),
			Clear: func(context.Context, session.Record) error { cleared++; stop(); return ctx.Err() }}
		assert.ErrorIs(t, k.Run(ctx), context.Canceled)
		assert.Equal(t, 1, cleared)
		assert.Empty(t, h.log.String())
		assert.Len(t, h.store.List(), 2)

		first, second := h.add(), h.add()
		ctx, stop = context.WithCancel(t.Context())
		h.fails[first.ID], h.fails[second.ID] = context.Canceled, context.Canceled
		k = &Keeper{Agents: agents, Sessions: meanwhile{h, stop}, Observer: h, Records: h.store, Copies: &h.copies, IdleAfter: time.Hour, Now: time.Now,
			Log: slog.New(slog.NewTextHandler(&h.log, nil))}
		assert.ErrorIs(t, k.Run(ctx), context.Canceled)
		assert.Len(t, h.asked, 1)
		assert.Empty(t, h.log.String())
	})
}

// line is a transcript's line with a text of the agent.
const line = `{"type":"assistant","uuid":"u","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"done"}]}}` + "\n"

// TestP5_RecordStaysUntilAnswerIsSent: ccbot, or Telegram, was away
// since the session ended. The record stays for the same time once more.
func TestP5_RecordStaysUntilAnswerIsSent(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		path := filepath.Join(h.base, "transcript.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(line), 0o600))
		cursor := func(offset int) func(*session.Record) {
			return func(r *session.Record) { r.Cursors = cursors(path, offset) }
		}
		lacking, said, never := h.add(gone(twoWeeks), cursor(0)), h.add(gone(twoWeeks), cursor(len(line))), h.add(gone(twoWeeks), cursor(0))
		stop := h.keeper(0, twoWeeks)
		defer stop()
		assert.False(t, h.there(said.ID))
		assert.True(t, h.there(lacking.ID))

		require.NoError(t, h.store.Do(t.Context(), lacking.ID, func(r *session.Record, save func() error) error {
			r.Cursors = cursors(path, len(line))
			return save()
		}))
		h.pass(time.Hour)
		assert.False(t, h.there(lacking.ID), "the chat has it now")

		h.pass(twoWeeks - 2*time.Hour)
		assert.True(t, h.there(never.ID))
		h.pass(2 * time.Hour)
		assert.False(t, h.there(never.ID), "a chat that gets nothing any more keeps no record for ever")
		assert.FileExists(t, path, "the transcript is Claude Code's")
	})
}

// A record without a copy stays.
func TestPurgeKeepsCopyFirst(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		r := h.add(gone(twoWeeks))
		h.copies.err = errors.New("the disk is full")
		k := h.newKeeper(0, twoWeeks)
		assert.Empty(t, k.Purge(t.Context()))
		assert.True(t, h.there(r.ID))
		assert.Empty(t, h.cleared)
		h.copies.err = nil
		gone := k.Purge(t.Context())
		require.Len(t, gone, 1)
		assert.Equal(t, r.ID, gone[0].ID)
		assert.False(t, h.there(r.ID))
		assert.True(t, h.kept[r.ID])
		assert.Equal(t, 2, h.copies.looked)
	})
}

// Purge removes exactly the records that a dry run lists.
func TestPurgeRemovesDryRunRecords(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		path := filepath.Join(h.base, "transcript.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(line), 0o600))
		unsaid := func(r *session.Record) { r.Cursors = cursors(path, 0) }
		h.add(gone(twoWeeks), unsaid)
		h.add(gone(twoWeeks - time.Hour))
		h.add(gone(2*twoWeeks), func(r *session.Record) { r.Unreported = true })
		due := []uuid.UUID{h.add(gone(twoWeeks)).ID, h.add(gone(2*twoWeeks), unsaid).ID}
		var listed, went []uuid.UUID
		for _, one := range Leaving(time.Now(), twoWeeks, agents, h.store.List()) {
			listed = append(listed, one.ID)
		}
		for _, one := range h.newKeeper(0, twoWeeks).Purge(t.Context()) {
			went = append(went, one.ID)
		}
		assert.Equal(t, due, listed)
		assert.Equal(t, due, went)
	})
}

// TestRestoredRecordStartsTimeAgain, from then and not from its end.
func TestRestoredRecordStartsTimeAgain(t *testing.T) {
	r := session.Record{State: session.Archived, LastEnd: session.LastEnd{EndedAt: noon.Add(-3 * twoWeeks)}}
	require.Len(t, Expired(noon, twoWeeks, []session.Record{r}), 1)
	r.ReturnedAt = noon
	assert.Empty(t, Expired(noon.Add(twoWeeks-1), twoWeeks, []session.Record{r}))
	assert.Len(t, Expired(noon.Add(twoWeeks), twoWeeks, []session.Record{r}), 1)
}

// A forgotten record goes with its copies, at any age; a session that may still run stays.
func TestForget(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		k := h.newKeeper(0, 0)
		for _, state := range session.States() {
			r := h.add(func(r *session.Record) { r.State = state })
			h.kept[r.ID] = true
			err := k.Forget(t.Context(), r.ID)
			if !state.HasEnded() {
				assert.ErrorIs(t, err, ErrNotEnded, state)
				assert.True(t, h.there(r.ID) && h.kept[r.ID], state)
				continue
			}
			require.NoError(t, err, state)
			assert.False(t, h.there(r.ID) || h.kept[r.ID], state)
			assert.Contains(t, h.cleared, r.ID)
		}
		left := uuid.New()
		h.kept[left] = true
		require.NoError(t, k.Forget(t.Context(), left), "of a record that has left the copies go")
		assert.False(t, h.kept[left])
	})
}

// TestP6_FailedCleanupMayBeForgotten only if each process that the record knows is proven gone, however
// long ago it failed.
func TestP6_FailedCleanupMayBeForgotten(t *testing.T) {
	agent, server, tool, other := process.Identity{PID: 2, Start: 2, Boot: "b"}, process.Identity{PID: 3, Start: 3, Boot: "b"}, process.Identity{PID: 4, Start: 4, Boot: "b"}, process.Identity{PID: 5, Start: 5, Boot: "b"}
	whole := session.Record{State: session.CleanupFailed, Run: session.Run{Binding: &session.Binding{Agent: agent, AgentServer: server}}}
	whole.Cleanup = &session.CleanupError{Processes: []process.Identity{other}, NotBefore: time.Now().Add(-1000 * 24 * time.Hour)}
	whole.Descendants, whole.Bound = []session.Tool{{Process: tool}}, []process.Identity{agent}
	isGone := func(process.Identity) process.Liveness { return process.Gone }
	assert.True(t, MayForget(whole, isGone))
	for _, one := range []process.Identity{agent, server, tool, other} {
		for _, not := range []process.Liveness{process.Alive, process.Unknown} {
			assert.False(t, MayForget(whole, func(id process.Identity) process.Liveness {
				if id == one {
					return not
				}
				return process.Gone
			}), "%v %v", one, not)
		}
	}
	unseen := whole
	unseen.Cleanup = &session.CleanupError{Failures: []session.CleanupFailure{{Kind: "processes", Detail: "a presence file is unreadable"}}}
	assert.False(t, MayForget(unseen, isGone), "another process may write, and was not seen")
	assert.False(t, MayForget(session.Record{State: session.CleanupFailed}, isGone), "nothing is known that could be proven gone")
	for _, state := range session.States() {
		if state != session.CleanupFailed {
			whole.State = state
			assert.Equal(t, state.HasEnded(), MayForget(whole, isGone), state)
		}
	}
}

// TestP8_InterruptedForgetIsFinished by the next one.
func TestP8_InterruptedForgetIsFinished(t *testing.T) {
	inFixture(t, func(t *testing.T, h *fixture) {
		k, r := h.newKeeper(0, 0), h.add(gone(time.Hour))
		h.kept[r.ID], h.clear = true, func(session.Record) error { return errors.New("killed") }
		require.Error(t, k.Forget(t.Context(), r.ID))
		assert.True(t, h.there(r.ID))
		h.clear = nil
		require.NoError(t, k.Forget(t.Context(), r.ID))
		assert.False(t, h.there(r.ID) || h.kept[r.ID])
	})
}
