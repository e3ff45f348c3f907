package appserver

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/witness"
	"ccbot/internal/jsonrpc"
	"ccbot/internal/waittest"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
)

var _ witness.Presences = Presences{}

func TestServerReportsState(t *testing.T) {
	for status, want := range map[string]witness.Presence{
		`{"type":"idle"}`:                                        {SessionID: thread1, Status: witness.Idle},
		`{"type":"active","activeFlags":[]}`:                     {SessionID: thread1, Status: witness.Busy},
		`{"type":"active","activeFlags":["waitingOnApproval"]}`:  {SessionID: thread1, Status: witness.Waiting, Permission: true},
		`{"type":"active","activeFlags":["waitingOnUserInput"]}`: {SessionID: thread1, Status: witness.Waiting, Answer: true},
		`{"type":"systemError"}`:                                 {SessionID: thread1, Status: witness.Idle}, // the last turn failed
		`{"type":"notLoaded"}`:                                   {SessionID: thread1},
		`{"type":"new"}`:                                         {SessionID: thread1, Status: "new"},
	} {
		s := newServer(t, thread1)
		s.status = status
		want.PID, want.ProcStart = s.process.PID, s.process.Start
		want.UpdatedAt, want.Version = time.Unix(1795711531, 0).UTC(), "0.171.0"
		f, err := Presences{Processes: s}.Read(t.Context(), s.process.PID)
		require.NoError(t, err)
		assert.Equal(t, want, f, status)
	}
}

// Without a title it is unknown which of several conversations is shown, and before the first one
// nothing is known.
func TestP7_ShownConversationIsKnown(t *testing.T) {
	s := newServer(t, thread1, thread2)
	_, err := Presences{Processes: s}.Read(t.Context(), s.process.PID)
	require.ErrorIs(t, err, ErrSeveral)
	title := func(context.Context, int) string { return "01a218c0-41c6-7ae1-8e15-ea4a0... | Ready" }
	f, err := Presences{Processes: s, Title: title}.Read(t.Context(), s.process.PID)
	require.NoError(t, err)
	assert.Equal(t, thread2, f.SessionID)

	s = newServer(t, thread1)
	delete(s.threads[thread1.String()], "updatedAt")
	f, err = Presences{Processes: s}.Read(t.Context(), s.process.PID)
	require.NoError(t, err)
	assert.Zero(t, f.UpdatedAt, "an earlier Codex does not report it")

	s = newServer(t, thread1)
	s.userAgent = "a server that names none"
	f, err = Presences{Processes: s}.Read(t.Context(), s.process.PID)
	require.NoError(t, err)
	assert.Empty(t, f.Version)

	s = newServer(t)
	_, err = Presences{Processes: s}.Read(t.Context(), s.process.PID)
	require.ErrorIs(t, err, fs.ErrNotExist, "only the screen shows what its terminal asks")

	s.process.Args = []string{"codex", "--remote", "unix:///s"}
	_, err = Presences{Processes: s}.Read(t.Context(), s.process.PID)
	require.ErrorIs(t, err, fs.ErrNotExist, "it is no server")
}

// What the server says of a goal, or of a request to the API that has failed, makes ccbot look.
func TestEventsWithoutPart(t *testing.T) {
	for method, want := range map[string]bool{"thread/goal/updated": true, "error": true, "thread/tokenUsage/updated": false} {
		e, ok := eventOf(jsonrpc.Message{Method: method, Params: json.RawMessage(`{"threadId":"` + thread1.String() + `"}`)}, Thread{ID: thread1})
		assert.Equal(t, want, ok, method)
		assert.Equal(t, Event{}, e, method)
	}
}

// Without Codex no folder is watched: the next one above would be the home.
func TestHomeIsNotWatched(t *testing.T) {
	s := newServer(t, thread1)
	launched := make(chan struct{}, 1)
	held := make(chan struct{}, 1)
	p := Presences{Processes: s, Folder: filepath.Join(t.TempDir(), ".codex", "locks"), Launched: launched, Held: func() (map[int][]uuid.UUID, error) {
		select {
		case held <- struct{}{}:
		default:
		}
		return nil, nil
	}}
	watcher := watchtest.Run(t, watch.New(slog.New(slog.DiscardHandler)))
	synced := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { close(synced); done <- p.Watch(ctx, watcher, slog.New(slog.DiscardHandler), func(int) {}) }()
	<-synced
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	assert.Empty(t, held, "nothing was watched")

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	launched <- struct{}{}
	go func() { done <- p.Watch(ctx, watcher, slog.New(slog.DiscardHandler), func(int) {}) }()
	<-held
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// A request that opens is reported at once, and so is a server with a lock.
func TestWatchReportsEvents(t *testing.T) {
	s := newServer(t, thread1)
	s.joined = []string{`{"id":3,"method":"item/commandExecution/requestApproval","params":{"threadId":"` + thread1.String() + `","command":"ls"}}`}
	ctx, cancel := context.WithCancel(waittest.Context(t))
	changed := make(chan int)
	done := make(chan error)
	p := Presences{Processes: s, Folder: t.TempDir(), Held: func() (map[int][]uuid.UUID, error) {
		return map[int][]uuid.UUID{s.process.PID: {thread1}}, nil
	}}
	folders := watchtest.Run(t, watch.New(slog.New(slog.DiscardHandler)))
	go func() {
		done <- p.Watch(ctx, folders, slog.New(slog.DiscardHandler), func(pid int) {
			select {
			case changed <- pid:
			case <-ctx.Done():
			}
		})
	}()
	for range 3 { // the lock, the joining, and the request
		assert.Equal(t, s.process.PID, <-changed)
	}
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// The file of a lock is made before it is locked: whoever looks in between sees no server.
func TestServerIsFoundAfterItsLock(t *testing.T) {
	s := newServer(t, thread1)
	made, found := time.Now(), make(chan int, 10)
	isLocked := func() bool { return time.Since(made) > looks[0]/2 } // the folder is as new as the lock, and watched until then
	watchedBy(t, s, Presences{Folder: t.TempDir()}, isLocked, func(pid int) { found <- pid })
	assert.Equal(t, s.process.PID, waittest.Next(t, found, "the server"))
}

// A conversation is left only if another one may be shown.
func TestConversationIsKeptWithoutAnswer(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, tt := range map[string]struct {
		ctx   context.Context
		shown uuid.UUID
		left  bool
	}{
		"the same":    {t.Context(), thread1, false},
		"another one": {t.Context(), thread2, true},
		"no answer":   {ended, thread1, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, thread1)
			left := false
			f := &follower{Presences: Presences{Processes: s}, pid: s.process.PID, log: slog.New(slog.DiscardHandler), again: make(chan struct{}, 1),
				shown: tt.shown, leave: func() { left = true }}
			f.recheck(tt.ctx)
			assert.Equal(t, tt.left, left)
			assert.Equal(t, tt.left, f.moved)
		})
	}
}
