package appserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/witness"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/watch"
)

// Presences asks servers for what an agent's presence file has. It implements witness.Presences.
type Presences struct {
	Processes Processes
	Title     Title
	Folder    string                              // of the locks: an entry is made and removed with each conversation
	Held      func() (map[int][]uuid.UUID, error) // the locked conversations by the pids of servers
	Launched  <-chan struct{}                     // has a value after a launch
	Requests  *Requests                           // nil: only the terminal answers them
}

// readTimeout bounds one question: a server that is stopped answers nothing.
const readTimeout = 5 * time.Second

// Read asks the server with a pid which conversation its terminal shows, and its state. A server that has
// no conversation yet reports neither: its terminal may ask something before, which only the screen shows.
func (p Presences) Read(ctx context.Context, pid int) (witness.Presence, error) {
	server, err := p.Processes.Inspect(pid)
	if err == nil {
		_, err = socketOf(server.Args)
	}
	if err != nil {
		return witness.Presence{}, fmt.Errorf("%w: %w", fs.ErrNotExist, err) // no server
	}
	ctx, done := context.WithTimeout(ctx, readTimeout)
	defer done()
	c, err := Dial(ctx, p.Processes, pid, server.Start)
	if err != nil {
		return witness.Presence{}, err
	}
	defer c.Close()
	found := witness.Presence{PID: pid, ProcStart: server.Start, Version: c.version}
	t, err := c.Shown(ctx, p.Title, pid)
	if errors.Is(err, errNone) {
		return witness.Presence{}, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return witness.Presence{}, err
	}
	found.SessionID, found.Status, found.UpdatedAt = t.ID, t.Status, t.UpdatedAt
	found.Permission = t.Asks && !t.Questions
	found.Answer = t.Questions
	return found, nil
}

// List returns none: the locks show who writes.
func (Presences) List(context.Context) ([]witness.Presence, map[int]error, error) {
	return nil, nil, nil
}

// looks are the pauses before the further looks after a change of the locks. A lock's file is made before
// it is locked, and its conversation is shown later still; neither can be watched.
var looks = []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second}

// Watch calls changed for each server with a lock when a lock is made or removed, soon after that, and when
// the conversation that its terminal shows changes its state. It joins that conversation, which the
// server keeps loaded as long. Without a folder of Codex it waits for a launch, which makes it: the
// folder above would be a person's home, whose changes do not matter.
func (p Presences) Watch(ctx context.Context, folders *watch.Watcher, log *slog.Logger, changed func(pid int)) error {
	if _, err := os.Stat(filepath.Dir(p.Folder)); errors.Is(err, fs.ErrNotExist) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.Launched:
		}
	}
	folder := folders.Watch(p.Folder, func(string, bool) bool { return true })
	defer folder.Close()
	var followers sync.WaitGroup
	defer followers.Wait()
	followed := make(map[int]*follower)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var due []time.Duration
	for {
		switch changed := changes(ctx, folder, due); {
		case ctx.Err() != nil:
			return ctx.Err()
		case changed:
			due = looks
		default:
			due = due[1:]
		}
		held, err := p.Held()
		if err != nil {
			log.Debug("locks_unreadable", logkey.Error, err)
		}
		for pid := range held {
			changed(pid)
			if f := followed[pid]; f != nil && !f.ended.Load() {
				followers.Go(func() { f.recheck(ctx) })
				continue
			}
			f := &follower{Presences: p, pid: pid, log: log, changed: func() { changed(pid) }, again: make(chan struct{}, 1), leave: func() {}, timeout: joinTimeout, lost: lostAfter}
			followed[pid] = f
			followers.Go(func() { f.run(ctx) })
		}
	}
}

// changes waits for a change of a folder, at most until the first look that is due, and reports whether
// there was one.
func changes(ctx context.Context, folder *watch.Watch, due []time.Duration) bool {
	if len(due) > 0 {
		within, done := context.WithTimeout(ctx, due[0])
		defer done()
		ctx = within
	}
	_, err := folder.Wait(ctx)
	return err == nil
}

// joinAgain is the pause after a conversation could not be joined, as before its first prompt. That
// prompt also makes a lock, of a conversation for the title.
const joinAgain = 5 * time.Second

// joinTimeout is longer than a busy server needs. A silent one is asked again, or the requests that
// it opens later would have no card.
const joinTimeout = 30 * time.Second

// lostAfter is more than the time between the status that says that the agent asks, and the request.
// One that begins while its conversation is being joined may come to nobody; a connection that is made
// later gets it.
const lostAfter = 3 * time.Second

// errLost is returned for a conversation that asks, but whose request has not come.
var errLost = errors.New("appserver: a request has not come")

// follower follows the conversation that the terminal of a server shows.
type follower struct {
	Presences
	pid      int
	log      *slog.Logger
	changed  func()
	again    chan struct{}     // ends the pause before the next connection
	timeout  time.Duration     // of joining
	lost     time.Duration     // without a request the conversation is joined once more
	rejoined bool              // it was
	begun    map[string]string // the patches of the turn's calls, by ids: a later connection is not told them again
	ended    atomic.Bool       // the server has

	mu    sync.Mutex
	shown uuid.UUID // the conversation that is joined; zero while it is not known
	found uuid.UUID // what a look has found meanwhile
	moved bool      // the terminal has shown another one since joined began
	leave func()    // ends its connection
}

// errMoved is returned for a conversation that the terminal no longer shows when it is joined.
var errMoved = errors.New("appserver: the terminal shows another conversation")

// recheck leaves the conversation if the terminal shows another one, or perhaps does. A server that gives
// no answer now shows what it showed: the start of a patch that nobody hears could not be asked for later.
func (f *follower) recheck(ctx context.Context) {
	found, err := f.Read(ctx, f.pid)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrSeveral) {
		f.log.Debug("conversation_unknown", logkey.Error, err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.shown == uuid.Nil {
		f.found = found.SessionID
		return
	}
	if err != nil || found.SessionID != f.shown {
		f.moved = true
		f.leave()
		pause.Poke(f.again)
	}
}

// run calls changed for the events of a server until ctx or the server ends.
func (f *follower) run(ctx context.Context) {
	defer f.ended.Store(true)
	for ctx.Err() == nil {
		switch err := f.joined(ctx); {
		case errors.Is(err, process.ErrGone):
			return
		case !errors.Is(err, errLost):
			pause.Until(ctx, joinAgain, f.again)
		}
	}
}

// joined joins the conversation that is shown until another one is, and returns the error that ends
// the connection.
func (f *follower) joined(ctx context.Context) error {
	server, err := f.Processes.Inspect(f.pid)
	if err != nil {
		return err
	}
	joining, stop := context.WithTimeout(ctx, f.timeout)
	defer stop()
	c, err := Dial(joining, f.Processes, f.pid, server.Start)
	if err != nil {
		return err
	}
	defer c.Close()
	f.mu.Lock()
	f.shown, f.found, f.moved = uuid.Nil, uuid.Nil, false
	f.mu.Unlock()
	t, err := c.Shown(joining, f.Title, f.pid)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	f.mu.Lock()
	f.shown, f.leave = t.ID, end
	f.moved = f.moved || f.found != uuid.Nil && f.found != t.ID
	f.mu.Unlock()
	if t, err = c.Join(joining, t); err != nil {
		return err
	}
	f.mu.Lock()
	moved := f.moved
	f.mu.Unlock()
	if moved {
		return errMoved
	}
	f.changed() // it may have changed since
	if f.begun == nil {
		f.begun = make(map[string]string)
	}
	w := waiting{of: f.Requests, server: server.Identity, conn: c, thread: t, log: f.log, ends: make(map[string]context.CancelFunc), begun: f.begun}
	defer w.end()
	for came := false; ; {
		f.rejoined = f.rejoined && t.Asks
		e, err := f.next(ctx, c, t, t.Asks && !came && !f.rejoined)
		if err != nil {
			f.rejoined = errors.Is(err, errLost)
			return err
		}
		if came = came || e.Asks; e.Status != nil {
			t.Asks, came = e.Status.Asks, came && e.Status.Asks
		}
		w.note(ctx, e)
		f.changed()
	}
}

// next waits for an event. If a request must come, it waits for a short time only.
func (f *follower) next(ctx context.Context, c *Conn, t Thread, must bool) (Event, error) {
	if !must {
		return c.Next(ctx, t)
	}
	within, done := context.WithTimeoutCause(ctx, f.lost, errLost)
	defer done()
	e, err := c.Next(within, t)
	if err != nil && errors.Is(context.Cause(within), errLost) {
		err = errLost
	}
	return e, err
}
