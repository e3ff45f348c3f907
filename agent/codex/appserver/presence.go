package appserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
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
}

// readTimeout bounds one question: a server that is stopped answers nothing.
const readTimeout = 5 * time.Second

// Read asks the server with a pid which conversation its terminal shows, and its state. Of a server
// that has no conversation yet both are unknown.
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
	found := witness.Presence{PID: pid, ProcStart: server.Start}
	t, err := c.Shown(ctx, p.Title, pid)
	if errors.Is(err, errNone) {
		return found, nil
	}
	if err != nil {
		return witness.Presence{}, err
	}
	found.SessionID, found.Status = t.ID, t.Status
	found.Permission = t.Asks && !t.Questions
	found.Answer = t.Questions
	return found, nil
}

// List returns none: the locks show who writes.
func (Presences) List(context.Context) ([]witness.Presence, map[int]error, error) {
	return nil, nil, nil
}

// Watch calls changed for each server with a lock when a lock is made or removed, and when the
// conversation that its terminal shows changes its state. It joins that conversation, which the
// server keeps loaded as long.
func (p Presences) Watch(ctx context.Context, folders *watch.Watcher, log *slog.Logger, changed func(pid int)) error {
	folder := folders.Watch(p.Folder, func(string, bool) bool { return true })
	defer folder.Close()
	var followers sync.WaitGroup
	stop := func() {}
	defer func() { stop(); followers.Wait() }()
	for {
		if _, err := folder.Wait(ctx); err != nil {
			return err
		}
		stop() // a terminal may show another conversation now
		followers.Wait()
		held, err := p.Held()
		if err != nil {
			log.Debug("locks_unreadable", logkey.Error, err)
		}
		within, cancel := context.WithCancel(ctx)
		stop = cancel
		for pid := range held {
			changed(pid)
			followers.Go(func() { p.follow(within, pid, changed) })
		}
	}
}

// joinAgain is the pause after a conversation could not be joined, as before its first prompt. That
// prompt also makes a lock, of a conversation for the title.
const joinAgain = 5 * time.Second

// follow calls changed for the events of a server until ctx or the server ends.
func (p Presences) follow(ctx context.Context, pid int, changed func(pid int)) {
	for ctx.Err() == nil {
		if errors.Is(p.joined(ctx, pid, changed), process.ErrGone) {
			return
		}
		_ = pause.For(ctx, joinAgain) // the loop sees the end of ctx
	}
}

// joined joins the conversation that is shown, and returns the error that ends the connection.
func (p Presences) joined(ctx context.Context, pid int, changed func(pid int)) error {
	server, err := p.Processes.Inspect(pid)
	if err != nil {
		return err
	}
	c, err := Dial(ctx, p.Processes, pid, server.Start)
	if err != nil {
		return err
	}
	defer c.Close()
	t, err := c.Shown(ctx, p.Title, pid)
	if err == nil {
		t, err = c.Join(ctx, t)
	}
	if err != nil {
		return err
	}
	changed(pid) // it may have changed since
	for {
		if _, err := c.Next(ctx, t); err != nil {
			return err
		}
		changed(pid)
	}
}
