package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/machine"
	"ccbot/fleet/wire"
	"ccbot/internal/sysfault"
	"ccbot/internal/wording"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// loops is a machine's loops, and its records.
type loops struct {
	port.Views
	err   error
	began []port.LoopRequest
	all   []port.Session
}

func (l *loops) Start(_ context.Context, q port.LoopRequest) (port.Loop, error) {
	l.began = append(l.began, q)
	return port.Loop{ID: q.Key, Task: q.Task}, l.err
}

func (l *loops) All(context.Context) ([]port.Loop, error) { return nil, nil }

func (l *loops) Change(ctx context.Context, _ port.LoopChange) (port.Loop, error) {
	<-ctx.Done()
	return port.Loop{}, ctx.Err()
}

func (l *loops) List() ([]port.Session, error) { return l.all, nil }

func listed(t *testing.T, m *machine.Machine) []port.Session {
	t.Helper()
	all, err := m.Records.List()
	require.NoError(t, err)
	return all
}

func connect(t *testing.T, l *loops) (*machine.Machine, *wire.Loop) {
	t.Helper()
	return wire.Loopback(t.Context(), &machine.Machine{Loops: l, Records: l})
}

func TestCallCrosses(t *testing.T) {
	l := &loops{}
	m, _ := connect(t, l)
	q := port.LoopRequest{Key: uuid.New(), Task: "make test", Bounds: port.LoopBounds{Turns: 3}}
	got, err := m.Loops.Start(t.Context(), q)
	require.NoError(t, err)
	assert.Equal(t, port.Loop{ID: q.Key, Task: q.Task}, got)
	assert.Equal(t, []port.LoopRequest{q}, l.began)
	all, err := m.Loops.All(t.Context())
	require.NoError(t, err)
	assert.Nil(t, all)
}

// TestP6_CallReachesItsMachineOnly: a call that a transport carries to another machine is not made
// there.
func TestP6_CallReachesItsMachineOnly(t *testing.T) {
	a, b := &loops{}, &loops{}
	servers := map[string]wire.Server{"a": {Name: "a", Machine: &machine.Machine{Loops: a}}, "b": {Name: "b", Machine: &machine.Machine{Loops: b}}}
	q := port.LoopRequest{Key: uuid.New(), Session: uuid.New(), Task: "make test"}
	for _, tt := range []struct {
		to, arrives string
		code        refusal.Code
	}{{"b", "b", ""}, {"b", "a", refusal.NoMachine}, {"", "a", refusal.NoMachine}} {
		l := &wire.Loop{Answer: func(ctx context.Context, e wire.Envelope) wire.Envelope {
			assert.Equal(t, []any{tt.to, q.Session}, []any{e.To, e.Session})
			return servers[tt.arrives].Answer(ctx, e)
		}}
		c := &wire.Client{From: "chat", To: tt.to, Transport: l.Call, Context: t.Context()}
		_, err := c.Machine().Loops.Start(t.Context(), q)
		assert.Equal(t, tt.code != "", err != nil)
		assert.Equal(t, tt.code, refusal.In(err).Code)
	}
	assert.Empty(t, a.began)
	assert.Equal(t, []port.LoopRequest{q}, b.began)
}

// TestForeignBytesAreNoPath: a string that is not UTF-8 arrives as one that no machine takes for a
// path.
func TestForeignBytesAreNoPath(t *testing.T) {
	for _, name := range []string{"a\xff\xfe.go", "\x00ff\xff", "\xff\x00", "ж\xd0", "\xed\xa0\x80"} {
		l := &loops{}
		m, _ := connect(t, l)
		_, err := m.Loops.Start(t.Context(), port.LoopRequest{Key: uuid.New(), Task: name})
		require.NoError(t, err)
		require.Len(t, l.began, 1)
		assert.False(t, folders.IsText(l.began[0].Task), "%q", name)
	}
	l := &loops{}
	m, _ := connect(t, l)
	q := port.LoopRequest{Key: uuid.New(), Task: "\x00 \x00ff"}
	_, err := m.Loops.Start(t.Context(), q)
	require.NoError(t, err)
	assert.Equal(t, []port.LoopRequest{q}, l.began)
}

// TestErrorsCross compares what the chat reads in an error before and after it has crossed.
func TestErrorsCross(t *testing.T) {
	_, full := os.Open("/no/such/file")
	writers := []port.Writer{{Process: port.Process{ID: "a", PID: 7, Age: time.Minute}, Dir: "/x"}}
	for _, err := range []error{
		errors.New("plain"),
		fmt.Errorf("start: %w", context.Canceled),
		context.DeadlineExceeded,
		refusal.New(refusal.Changed, "it has changed"),
		fmt.Errorf("archive: %w", &refusal.Error{Code: refusal.Writers, Writers: writers}),
		fmt.Errorf("make: %w", &refusal.Error{Code: refusal.DirNoAccess, Dir: "/x", Err: syscall.ENOSPC}),
		full,
		&refusal.Error{Code: refusal.DirNoAccess, Dir: "/x\x00", Reason: "no", Err: syscall.EACCES},
		&fs.PathError{Op: "open", Path: "/x", Err: fs.ErrNotExist},
		&fs.PathError{Op: "fork/exec", Path: "/bin/x", Err: syscall.EAGAIN},
		fmt.Errorf("image: %w", fs.ErrInvalid),
		errors.Join(errors.New("a"), syscall.EMFILE),
	} {
		t.Run(err.Error(), func(t *testing.T) {
			m, _ := connect(t, &loops{err: err})
			_, got := m.Loops.Start(t.Context(), port.LoopRequest{})
			require.EqualError(t, got, err.Error())
			want, in := *refusal.In(err), *refusal.In(got)
			if want.Code != refusal.Internal {
				assert.Equal(t, want.Error(), in.Error())
				want.Err, in.Err = nil, nil
				assert.Equal(t, want, in)
			}
			assert.Equal(t, wording.Mask("").Error(err), wording.Mask("").Error(got))
			assert.Equal(t, sysfault.Of(err), sysfault.Of(got))
			assert.Equal(t, sysfault.Cause(err), sysfault.Cause(got))
			for _, known := range []error{context.Canceled, context.DeadlineExceeded, fs.ErrNotExist, fs.ErrInvalid} {
				assert.Equal(t, errors.Is(err, known), errors.Is(got, known), known)
			}
			before, is := errors.AsType[*fs.PathError](err)
			if after, still := errors.AsType[*fs.PathError](got); assert.Equal(t, is, still) && is {
				assert.Equal(t, before.Path, after.Path)
			}
		})
	}
}

// TestP6_FaultsOfALoop tries the faults of a network.
func TestP6_FaultsOfALoop(t *testing.T) {
	l := &loops{all: []port.Session{{ID: uuid.New(), Name: "api", State: port.StateRunning}, {ID: uuid.New(), State: port.StateArchived}}}
	m, loop := connect(t, l)
	require.Equal(t, l.all, listed(t, m))

	loop.Set(wire.Faults{Unreachable: true})
	_, err := m.Loops.Start(t.Context(), port.LoopRequest{})
	require.ErrorIs(t, err, refusal.ErrUnreachable)
	assert.True(t, refusal.Is(err, refusal.Unreachable))
	assert.Empty(t, l.began)
	all, err := m.Records.List()
	require.ErrorIs(t, err, refusal.ErrUnreachable)
	assert.Equal(t, l.all, all, "a session of an unreachable machine is not gone")
	s, ok := m.Records.Get(l.all[0].ID)
	assert.True(t, ok)
	assert.Equal(t, port.Session{ID: l.all[0].ID, Name: "api", State: port.StateUnknown}, s, "it may have ended")
	s, ok = m.Records.Get(l.all[1].ID)
	assert.True(t, ok)
	assert.Equal(t, l.all[1], s)
	unread := uuid.New()
	s, ok = m.Records.Get(unread)
	assert.True(t, ok, "it may exist")
	assert.Equal(t, unread, s.ID)
	assert.True(t, s.State.Open() && s.State == port.StateUnknown && !s.State.HasEnded() && !s.State.EndedOnPurpose())
	_, ok = m.Records.Get(uuid.Nil)
	assert.False(t, ok)
	_, err = m.Files.Open(t.Context(), uuid.Nil, "/x")
	require.ErrorIs(t, err, refusal.ErrUnreachable)

	loop.Set(wire.Faults{Cut: true})
	_, err = m.Loops.Start(t.Context(), port.LoopRequest{})
	require.ErrorIs(t, err, refusal.ErrUnreachable)
	assert.Len(t, l.began, 1, "only its answer is lost")
}

func TestDelayOfALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, loop := connect(t, &loops{})
		loop.Set(wire.Faults{Delay: time.Second})
		began := time.Now()
		_, err := m.Loops.Start(t.Context(), port.LoopRequest{})
		require.NoError(t, err)
		assert.Equal(t, 2*time.Second, time.Since(began))
	})
}

// TestCallEndsWithItsContext also requires that a call is not made after its context has ended.
func TestCallEndsWithItsContext(t *testing.T) {
	l := &loops{}
	m, _ := connect(t, l)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := m.Loops.Change(ctx, port.LoopChange{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = m.Loops.Start(ctx, port.LoopRequest{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Empty(t, l.began)
}

// chat keeps the news.
type chat struct {
	of   port.Session
	news []news.News
}

func (c *chat) SessionNews(_ context.Context, s port.Session, n news.News) error {
	c.of, c.news = s, append(c.news, n)
	return refusal.New(refusal.NotFound, "no such chat")
}

func TestNewsCross(t *testing.T) {
	to := &chat{}
	up := &wire.Loop{Answer: wire.Reader{Chat: to}.Answer}
	from := &wire.Client{From: "b", To: "chat", Transport: up.Call}
	s := port.Session{ID: uuid.New(), Name: "api"}
	all := []news.News{
		news.Dialog{Terminal: news.Terminal{Screen: "x", Dialog: &port.Dialog{Open: true, Options: []string{"Yes"}}}},
		news.OtherWriters{{Dir: "/x"}},
		news.Renamed{},
	}
	for _, n := range all {
		require.EqualError(t, from.SessionNews(t.Context(), s, n), "no such chat")
	}
	assert.Equal(t, all, to.news)
	assert.Equal(t, s, to.of)
	up.Set(wire.Faults{Unreachable: true})
	require.ErrorIs(t, from.SessionNews(t.Context(), s, all[0]), refusal.ErrUnreachable)
}

func TestDecodeRefusesAnotherVersion(t *testing.T) {
	_, err := wire.Decode([]byte(`{"v":2,"kind":"Loops.All"}`))
	require.EqualError(t, err, "envelope of version 2")
	_, err = wire.Decode([]byte(`{`))
	require.Error(t, err)
	e, err := wire.Decode([]byte(`{"v":1,"kind":"Loops.All","later":true}`))
	require.NoError(t, err)
	assert.Equal(t, "Loops.All", e.Kind)
}

// TestCallsOfANewerChat: a machine whose program lacks a call refuses it as an older machine, and
// has none of the abilities that it is asked for.
func TestCallsOfANewerChat(t *testing.T) {
	l := &loops{}
	m, loop := connect(t, l)
	loop.Set(wire.Faults{Unknown: []string{"Loops.Start", "Agents.Installed"}})
	_, err := m.Loops.Start(t.Context(), port.LoopRequest{})
	require.EqualError(t, err, "unknown call Loops.Start")
	assert.True(t, refusal.Is(err, refusal.OldMachine))
	assert.Empty(t, l.began)
	installed, err := m.Sessions.Installed(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, installed)
	loop.Set(wire.Faults{})
	_, err = m.Loops.Start(t.Context(), port.LoopRequest{})
	require.NoError(t, err)

	answer := wire.Server{Name: "machine", Machine: &machine.Machine{}}.Answer(t.Context(), wire.Envelope{V: wire.Version, Kind: "Loops.Paint", To: "machine"})
	assert.Equal(t, "unknown call Loops.Paint", answer.Error.Text, "older programs answer so, and newer ones read it")
}
