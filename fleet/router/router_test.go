package router

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/machine"
	"ccbot/fleet/wire"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// twin is one of several machines with the same names, folders and windows.
type twin struct {
	id   uuid.UUID // of its only session
	gone atomic.Bool
	hung atomic.Pointer[chan struct{}] // nil: it answers

	ended   []uuid.UUID
	ignored []port.ID
	read    []talk.Cursor
	started []port.Start
}

func newTwin() *twin { return &twin{id: uuid.Must(uuid.NewV7())} }

func (w *twin) reach() error {
	if hung := w.hung.Load(); hung != nil {
		<-*hung
	}
	if w.gone.Load() {
		return refusal.ErrUnreachable
	}
	return nil
}

func (w *twin) session() port.Session {
	return port.Session{ID: w.id, Name: "api", Dir: "/work/api", State: port.StateRunning, Cursors: []talk.Cursor{{Path: "/t/1.jsonl"}}, CreatedAt: time.Unix(0, 0)}
}

func (w *twin) machine() *machine.Machine {
	return &machine.Machine{Records: records{w}, Sessions: sessions{twin: w}, Places: places{twin: w}, Transcripts: transcripts{twin: w}, Loops: loops{twin: w}}
}

type records struct{ *twin }

func (w records) Get(id uuid.UUID) (port.Session, bool) {
	if w.reach() != nil {
		return port.Session{ID: id, State: port.StateUnknown}, true
	}
	return w.session(), id == w.id
}

func (w records) List() ([]port.Session, error) {
	if err := w.reach(); err != nil {
		return nil, err
	}
	return []port.Session{w.session()}, nil
}

func (w records) History(context.Context, uuid.UUID) ([]port.Change, error) { return nil, w.reach() }

type sessions struct {
	machine.Sessions
	*twin
}

func (w sessions) Archive(_ context.Context, id uuid.UUID, _ port.State, _ port.Cause) error {
	w.ended = append(w.ended, id)
	return w.reach()
}

func (w sessions) Start(_ context.Context, q port.Start) (port.Session, error) {
	w.started = append(w.started, q)
	s := w.session()
	s.ID, s.Dir = uuid.Must(uuid.NewV7()), q.Dir
	return s, w.reach()
}

func (w sessions) Inspect(_ context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error) {
	all := make(map[uuid.UUID]port.Status)
	for _, id := range ids {
		all[id] = port.Status{Idle: true}
	}
	return all, w.reach()
}

func (w sessions) Spent(context.Context, time.Duration) (talk.Report, error) {
	return talk.Report{Days: []float64{1}, Spans: []talk.Span{{All: talk.Sum{Input: 5, Cost: 1}}}}, w.reach()
}

func (w sessions) Orphans(context.Context) ([]port.Window, error) {
	return []port.Window{{ID: "@3.17", Pane: port.Pane{Window: "@3"}, Dir: "/work/api"}}, w.reach()
}

func (w sessions) Ignore(_ context.Context, one port.Window) error {
	w.ignored = append(w.ignored, one.ID)
	return w.reach()
}

type places struct {
	machine.Places
	*twin
}

func (w places) Bounds(string) (folders.Bounds, error) {
	return folders.Bounds{Home: "/home/u", Roots: []string{"/work"}}, w.reach()
}

func (w places) Resolve(_ context.Context, base, path string) (string, error) {
	if path == "/etc" {
		return path, &refusal.Error{Code: refusal.DirOutside, Dir: path}
	}
	return base + "|" + path, w.reach()
}

type transcripts struct {
	machine.Transcripts
	*twin
}

func (w transcripts) Next(_ context.Context, _ uuid.UUID, from talk.Cursor, _ int, _ bool) ([]talk.Item, error) {
	w.read = append(w.read, from)
	next := from
	next.Offset += 10
	return []talk.Item{{At: from, Next: next}}, w.reach()
}

type loops struct {
	port.Loops
	*twin
}

func (w loops) All(context.Context) ([]port.Loop, error) {
	return []port.Loop{{ID: w.id, Worktree: &port.LoopWorktree{Dir: "/work/api"}}}, w.reach()
}

// fleet returns the chat's own machine and two others, as the chat has them.
func fleet(t *testing.T) (r *Router, chat *machine.Machine, a, b, c *twin) {
	t.Helper()
	a, b, c = newTwin(), newTwin(), newTwin()
	r = New("attic", a.machine())
	require.NoError(t, r.Add("bbbb", "Barn", b.machine()))
	require.NoError(t, r.Add("cccc", "Cellar", c.machine()))
	chat = r.Machine()
	return r, chat, a, b, c
}

func TestValuesOfTwinsDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, chat, a, b, c := fleet(t)
		all, err := chat.Records.List()
		require.NoError(t, err)
		assert.Equal(t, []string{"/work/api", "bbbb:/work/api", "cccc:/work/api"}, each.As(all, func(s port.Session) string { return s.Dir }))
		assert.Equal(t, []string{"", "bbbb", "cccc"}, each.As(all, func(s port.Session) string { return s.Machine }))

		require.NoError(t, chat.Sessions.Archive(t.Context(), b.id, port.StateArchived, port.Cause{}))
		assert.Equal(t, []uuid.UUID{b.id}, slices.Concat(a.ended, b.ended, c.ended))

		items, err := chat.Transcripts.Next(t.Context(), b.id, all[1].Cursors[0], 1, false)
		require.NoError(t, err)
		assert.Equal(t, "bbbb:/t/1.jsonl", items[0].Next.Path)
		assert.Equal(t, []talk.Cursor{{Path: "/t/1.jsonl"}}, b.read)
		_, err = chat.Transcripts.Next(t.Context(), b.id, all[2].Cursors[0], 1, false)
		assert.True(t, refusal.Is(err, refusal.NoMachine), "a cursor of another machine: %v", err)

		windows, err := chat.Sessions.Orphans(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []port.ID{"@3.17", "bbbb:@3.17", "cccc:@3.17"}, each.As(windows, func(w port.Window) port.ID { return w.ID }))
		require.NoError(t, chat.Sessions.Ignore(t.Context(), windows[2]))
		assert.Equal(t, []port.ID{"@3.17"}, c.ignored)
		assert.Empty(t, slices.Concat(a.ignored, b.ignored))

		found, err := chat.Loops.All(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "bbbb:/work/api", found[1].Worktree.Dir)

		s, err := chat.Sessions.Start(t.Context(), port.Start{Dir: "cccc:/work/api"})
		require.NoError(t, err)
		assert.Equal(t, "/work/api", c.started[0].Dir)
		assert.Equal(t, "cccc:/work/api", s.Dir)
		_, err = chat.Sessions.Start(t.Context(), port.Start{Dir: "dddd:/work/api"})
		assert.True(t, refusal.Is(err, refusal.NoMachine), err)
		require.NoError(t, chat.Sessions.Archive(t.Context(), s.ID, port.StateArchived, port.Cause{}), "it is known at once")
		assert.Equal(t, []uuid.UUID{s.ID}, c.ended)
	})
}

func TestPathsThatPeopleWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, chat, _, _, _ := fleet(t)
		for _, tt := range []struct{ base, path, want string }{
			{"/work", "api", "/work|api"},
			{"bbbb:/work", "api", "bbbb:/work|api"},
			{"/work", "barn:~/api", "bbbb:|~/api"},
			{"bbbb:/work", "Barn:api", "bbbb:/work|api"},
			{"bbbb:/work", "Attic:~/api", "|~/api"},
			{"/", "bbbb:/work/api", "bbbb:|/work/api"},
			{"/", "barn:", "bbbb:|~"},
			{"/work", "x:y", "/work|x:y"},
		} {
			dir, err := chat.Places.Resolve(t.Context(), tt.base, tt.path)
			require.NoError(t, err)
			assert.Equal(t, tt.want, dir, tt.path)
		}
		_, err := chat.Places.Resolve(t.Context(), "", "barn:/etc")
		assert.Equal(t, &refusal.Error{Code: refusal.DirOutside, Dir: "bbbb:/etc", Machine: "bbbb"}, refusal.In(err))
		_, _ = chat.Records.List()
		in, err := chat.Places.Bounds("bbbb:/work")
		require.NoError(t, err)
		assert.Equal(t, folders.Bounds{Machine: "Barn", Home: "bbbb:/home/u", Roots: []string{"bbbb:/work"}}, in)
	})
}

// TestP6_SilentMachineIsUnknown: the sessions of a machine that does not answer are not ended, and
// delay no call about another machine.
func TestP6_SilentMachineIsUnknown(t *testing.T) {
	for name, hangs := range map[string]bool{"unreachable": false, "hanging": true} {
		for name2, before := range map[string]bool{"never read": false, "read before": true} {
			t.Run(name+", "+name2, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r, chat, a, b, c := fleet(t)
					if !before {
						synctest.Wait()
						r.Remove("bbbb")
					}
					if before {
						all, err := chat.Records.List()
						require.NoError(t, err)
						require.Len(t, all, 3)
					}
					hung := make(chan struct{})
					if hangs {
						b.hung.Store(&hung)
					}
					b.gone.Store(true)
					if !before {
						require.NoError(t, r.Add("bbbb", "Barn", b.machine()))
					}
					if before && hangs {
						_, _ = chat.Records.List()
						time.Sleep(unknownAfter)
					}
					began := time.Now()
					all, err := chat.Records.List()
					require.ErrorIs(t, err, refusal.ErrUnreachable, "a list that is not complete says so")
					of := make(map[uuid.UUID]port.State)
					for _, s := range all {
						of[s.ID] = s.State
					}
					assert.Equal(t, port.StateRunning, of[a.id])
					assert.Equal(t, port.StateRunning, of[c.id])
					if before {
						assert.Equal(t, port.StateUnknown, of[b.id])
					}
					s, ok := chat.Records.Get(b.id)
					assert.True(t, ok)
					assert.Equal(t, port.StateUnknown, s.State)
					looks, err := chat.Sessions.Inspect(t.Context(), a.id, b.id, c.id)
					require.ErrorIs(t, err, refusal.ErrUnreachable)
					assert.True(t, looks[a.id].Idle)
					assert.True(t, looks[c.id].Idle)
					assert.NotContains(t, looks, b.id)
					windows, err := chat.Sessions.Orphans(t.Context())
					require.ErrorIs(t, err, refusal.ErrUnreachable)
					assert.Len(t, windows, 2)
					spent, err := chat.Sessions.Spent(t.Context(), time.Second)
					require.NoError(t, err)
					assert.Equal(t, []float64{2}, spent.Days)
					assert.Equal(t, 1, spent.Silent)
					one := talk.Sum{Input: 5, Cost: 1}
					assert.Equal(t, []talk.Span{{All: talk.Sum{Input: 10, Cost: 2},
						Machines: []talk.Line{{Name: "attic", Sum: one}, {Name: "Cellar", Sum: one}}}}, spent.Spans)
					found, err := chat.Loops.All(t.Context())
					require.ErrorIs(t, err, refusal.ErrUnreachable)
					assert.Len(t, found, 2)
					require.NoError(t, chat.Sessions.Archive(t.Context(), a.id, port.StateArchived, port.Cause{}))
					_, err = chat.Transcripts.Next(t.Context(), c.id, talk.Cursor{Path: "cccc:/t/1.jsonl"}, 1, false)
					require.NoError(t, err)
					assert.LessOrEqual(t, time.Since(began), 2*patience, "of this test's clock: one wait for the machine, not one in each call")

					b.gone.Store(false)
					close(hung)
					synctest.Wait()
					_, _ = chat.Records.Get(b.id)
					synctest.Wait()
					if before {
						s, _ = chat.Records.Get(b.id)
						assert.Equal(t, port.StateRunning, s.State, "it is back")
					}
					all, err = chat.Records.List()
					require.NoError(t, err)
					assert.Len(t, slices.DeleteFunc(all, func(s port.Session) bool { return s.State != port.StateRunning }), 3, "it is back")
				})
			})
		}
	}
}

// TestLastUseOfSilentMachineCounts: a cap of the day does not forget what a machine had used today.
func TestLastUseOfSilentMachineCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, chat, _, b, _ := fleet(t)
		synctest.Wait()
		spent := func() talk.Report {
			rep, err := chat.Sessions.Spent(t.Context(), time.Second)
			require.NoError(t, err)
			return rep
		}
		before := spent()
		assert.Zero(t, before.Silent)
		assert.Equal(t, []float64{3}, before.Days)
		b.gone.Store(true)
		now := spent()
		assert.Equal(t, 1, now.Silent)
		now.Silent = 0
		assert.Equal(t, before, now)
		time.Sleep(24 * time.Hour)
		assert.Equal(t, []float64{2}, spent().Days, "what it used yesterday is no use of today")
	})
}

func TestNewsNamesItsMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, chat, _, b, _ := fleet(t)
		synctest.Wait() // a read that begins after the news would not find its session
		var got told
		up := r.Chat("bbbb", &got)
		s := b.session()
		s.ID = uuid.Must(uuid.NewV7())
		require.NoError(t, up.SessionNews(t.Context(), s, news.Unproven{Prompt: talk.Prompt{Mark: &talk.Mark{Path: "/t/1.jsonl"}}}))
		assert.Equal(t, "bbbb", got.session.Machine)
		assert.Equal(t, "bbbb:/work/api", got.session.Dir)
		assert.Equal(t, news.Unproven{Prompt: talk.Prompt{Mark: &talk.Mark{Path: "bbbb:/t/1.jsonl"}}}, got.news)
		require.NoError(t, chat.Sessions.Archive(t.Context(), s.ID, port.StateArchived, port.Cause{}))
		assert.Equal(t, []uuid.UUID{s.ID}, b.ended, "the session is known since its news")
		require.NoError(t, up.SessionNews(t.Context(), s, news.Forgotten{}))
		assert.Equal(t, news.Forgotten{}, got.news)
		require.NoError(t, up.SessionNews(t.Context(), port.Session{}, news.FileUnread{Path: "/t/1.jsonl"}))
		assert.Equal(t, port.Session{Machine: "bbbb", Name: "Barn"}, got.session)
		assert.Equal(t, news.FileUnread{Path: "bbbb:/t/1.jsonl"}, got.news)
	})
}

// lateRecords hold the first list until a channel is closed.
type lateRecords struct {
	records
	lists *atomic.Int32
	held  chan struct{}
}

func (w lateRecords) List() ([]port.Session, error) {
	if w.lists.Add(1) > 1 {
		return w.records.List()
	}
	<-w.held
	return nil, nil
}

// TestP6_LateReadHidesNoSession: of two reads the one that began later counts.
func TestP6_LateReadHidesNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, held := newTwin(), make(chan struct{})
		m := w.machine()
		m.Records = lateRecords{records{w}, new(atomic.Int32), held}
		h := &host{Machine: m, id: "bbbb", isForeign: func(uuid.UUID) bool { return false }}
		h.probe()
		synctest.Wait()
		require.NoError(t, h.readAll())
		close(held)
		synctest.Wait()
		_, known := h.kept(w.id)
		assert.True(t, known)
	})
}

// changingRecords call change once, before the first answer of Get.
type changingRecords struct {
	port.Views
	changed *atomic.Bool
	change  func()
}

func (w changingRecords) Get(id uuid.UUID) (port.Session, bool) {
	if w.changed.CompareAndSwap(false, true) {
		w.change()
	}
	return w.Views.Get(id)
}

// TestP6_ReadDuringLookupLosesNoSession: a machine answers for the first time while one of its
// sessions is looked for.
func TestP6_ReadDuringLookupLosesNoSession(t *testing.T) {
	looked := func(t *testing.T) (*Router, *machine.Machine, uuid.UUID) {
		t.Helper()
		a, b := newTwin(), newTwin()
		hung := make(chan struct{})
		b.hung.Store(&hung)
		own := a.machine()
		own.Records = changingRecords{own.Records, new(atomic.Bool), func() { close(hung); synctest.Wait() }}
		r := New("attic", own)
		require.NoError(t, r.Add("bbbb", "Barn", b.machine()))
		return r, r.Machine(), b.id
	}
	t.Run("its state", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, chat, id := looked(t)
			s, known := chat.Records.Get(id)
			assert.True(t, known)
			assert.Equal(t, port.StateUnknown, s.State)
		})
	})
	t.Run("its machine", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, _, id := looked(t)
			_, err := r.of(id)
			assert.ErrorIs(t, err, refusal.ErrUnreachable)
		})
	})
}

// TestStartComesWithItsSessions: the sessions that a start has closed are known before the chat
// reports the start. Until they can be read, the news come again.
func TestStartComesWithItsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, chat, _, b, _ := fleet(t)
		synctest.Wait()
		var got told
		up := r.Chat("bbbb", &got)
		b.gone.Store(true)
		require.Error(t, up.SessionNews(t.Context(), port.Session{}, news.Start{}))
		assert.Nil(t, got.news)

		b.gone.Store(false)
		b.id = uuid.Must(uuid.NewV7())
		hung := make(chan struct{})
		b.hung.Store(&hung)
		go func() { time.Sleep(2 * patience); b.hung.Store(nil); close(hung) }()
		require.NoError(t, up.SessionNews(t.Context(), port.Session{}, news.Start{Unreadable: 1}))
		assert.Equal(t, news.Start{Unreadable: 1}, got.news)
		_, known := chat.Records.Get(b.id)
		assert.True(t, known)
	})
}

// TestReportOfPromptComesWithItsSession: the chat knows the session that a report of a prompt
// names, and gets none about a session of another machine.
func TestReportOfPromptComesWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, chat, a, b, c := fleet(t)
		synctest.Wait()
		var got told
		up := r.Chat("bbbb", &got)
		for _, foreign := range []*twin{a, c} {
			require.NoError(t, up.SessionNews(t.Context(), port.Session{}, news.Progress{Session: foreign.id}))
		}
		b.id = uuid.Must(uuid.NewV7())
		b.gone.Store(true)
		require.Error(t, up.SessionNews(t.Context(), port.Session{}, news.Progress{Session: b.id}))
		assert.Nil(t, got.news)
		b.gone.Store(false)
		require.NoError(t, up.SessionNews(t.Context(), port.Session{}, news.Progress{Session: b.id}))
		assert.Equal(t, news.Progress{Machine: "bbbb", Session: b.id}, got.news)
		_, known := chat.Records.Get(b.id)
		assert.True(t, known)
		require.NoError(t, up.SessionNews(t.Context(), port.Session{}, news.Progress{Number: 2}))
		assert.Equal(t, news.Progress{Machine: "bbbb", Number: 2}, got.news, "its outcome is forgotten")
	})
}

type told struct {
	session port.Session
	news    news.News
}

func (c *told) SessionNews(_ context.Context, s port.Session, n news.News) error {
	c.session, c.news = s, n
	return nil
}

func TestNamesOfMachinesDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, chat, _, b, _ := fleet(t)
		for id, name := range map[string]string{"bbbb": "other", "dddd": "BARN", "eeee": "ATTIC"} {
			require.ErrorIs(t, r.Add(id, name, newTwin().machine()), ErrNameTaken)
		}
		for id, name := range map[string]string{"": "x", "B": "x", "ffff": "", "gggg": "a:b"} {
			require.Error(t, r.Add(id, name, newTwin().machine()))
		}
		synctest.Wait()
		assert.Equal(t, []machine.Info{{Name: "attic"}, {ID: "bbbb", Name: "Barn"}, {ID: "cccc", Name: "Cellar"}}, r.Machines())
		r.Remove("bbbb")
		_, err := chat.Places.Resolve(t.Context(), "bbbb:/work", "api")
		assert.True(t, refusal.Is(err, refusal.NoMachine), err)
		_, ok := chat.Records.Get(b.id)
		assert.False(t, ok)
	})
}

// TestChangedFileWithColon: the path of a changed file begins at its repository, and names no
// machine.
func TestChangedFileWithColon(t *testing.T) {
	var got []string
	r := New("attic", on(func(e wire.Envelope) ([]any, error) {
		got = append(got, e.Kind)
		return []any{folders.Patch{}}, nil
	}))
	_, err := r.Machine().Sessions.Patch(t.Context(), uuid.New(), "", "notes:today.txt")
	require.NoError(t, err)
	assert.Equal(t, []string{"Diffs.Patch"}, got)
}

// TestFirstValuesHaveTheirMachine: calls at once all know which values have addresses, from the
// first value of a type on.
func TestFirstValuesHaveTheirMachine(t *testing.T) {
	h := &host{id: tower}
	for range 200 {
		held.Clear()
		dirs := make([]string, 8)
		var calls sync.WaitGroup
		for i := range dirs {
			calls.Go(func() { dirs[i] = rewrite(port.Session{Dir: "/work"}, h.address).Dir })
		}
		calls.Wait()
		for _, dir := range dirs {
			require.Equal(t, tower+":/work", dir)
		}
	}
}
