package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// lives is a lifecycle that does what the model does, on real records, to a world
// that is only described.
type lives struct {
	store *session.Store
	mu    sync.Mutex
	world World
	fail  map[uuid.UUID]bool // records with which nothing can be done
	ended []process.Identity
}

// inWorld is a recovery in a described world, with its records in dir.
func inWorld(w World, dir string) (*Recovery, *lives, error) {
	w = w.clone()
	log := slog.New(slog.DiscardHandler)
	now := func() time.Time { return w.Now }
	store, err := session.Open(filepath.Join(dir, "sessions"), filepath.Join(dir, "quarantine"), now, log, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range w.Records {
		if err := store.Create(r); err != nil {
			return nil, nil, err
		}
	}
	if err := ignore(w, dir); err != nil {
		return nil, nil, err
	}
	l := &lives{store: store, world: w, fail: make(map[uuid.UUID]bool)}
	v := &Recovery{Instance: w.Instance, Session: w.Session, Dir: dir, Limits: w.Limits, Since: w.Since, Store: aside{store, w.Unloaded}, Tmux: still{w},
		Processes: l, Evidence: l, Lifecycle: l, Events: func(context.Context) error { return nil },
		Backup: func(context.Context) (string, error) { return "made", nil }, Now: now, Log: log,
		watched: maps.Clone(w.Watched)}
	return v, l, nil
}

// ignore writes windows.json as the world has it.
func ignore(w World, dir string) error {
	list := windowList{Version: windowsVersion}
	for _, p := range w.firstPanes() {
		if w.Ignored[p.Window] {
			list.Windows = append(list.Windows, knownWindow{ServerPID: w.Server.PID, ServerStart: w.Server.Start, Window: p.Window.String(), PanePID: p.PID, Ignored: true})
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, windowsFile), data, 0o600)
}

// still is a tmux in which nothing moves.
type still struct{ w World }

func (s still) Server(context.Context) (tmux.ServerID, error) {
	return s.w.Server, map[TmuxFate]error{TmuxUnknown: tmux.ErrLost, TmuxAbsent: tmux.ErrNoServer}[s.w.Tmux]
}

func (s still) Panes(context.Context) ([]tmux.Pane, error) { return slices.Clone(s.w.Panes), nil }

// ---- the visible world

func (l *lives) Self() process.Identity {
	return process.Identity{PID: 4_000_000, Start: 1, Boot: l.world.Boot}
}

// below is the pid of the agent that a nested one runs below.
const below = 1_000_000

// Inspect shows a process, and an agent above it if it is nested.
func (l *lives) Inspect(pid int) (process.Process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := process.Process{Identity: process.Identity{PID: pid, Start: 1, Boot: l.world.Boot}}
	for _, pane := range l.world.Panes {
		held, seen := l.world.Holds[pane.ID]
		if pane.PID == pid && !seen {
			return process.Process{}, process.ErrGone
		}
		for _, r := range l.world.Records {
			if pane.PID == pid && pane.Tag == l.world.tag(r.ID) && held {
				p.Args = []string{"claude", "--session-id", r.AgentSessionID.String()}
			}
		}
	}
	for id, nested := range l.world.Nested {
		if id.PID == pid && nested {
			p.PPID = below + pid
		}
	}
	return p, nil
}

func (l *lives) Liveness(id process.Identity) process.Liveness { return l.world.Servers[id] }

func (l *lives) Survey(context.Context, []session.Record) (evidence.Survey, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.world.clone().Survey
	if s.Writers == nil {
		return s, evidence.ErrUnreadable
	}
	return s, nil
}

func (*lives) StartedFor(r session.Record, p process.Process) bool {
	return (&evidence.Sources{Agents: agent.Agents{agent.Default: {Witness: claude.Witness{}}}}).StartedFor(r, p)
}

func (l *lives) RunsBelowAgent(_ context.Context, id process.Identity) (bool, error) {
	p, _ := l.Inspect(id.PID)
	return p.PPID > below, nil
}

func (l *lives) Windows(context.Context, []tmux.Pane) ([]evidence.Window, error) { return nil, nil }

// ---- what is done

// do changes a record as the model does.
func (l *lives) do(ctx context.Context, id uuid.UUID, a Action) error {
	if l.fail[id] {
		return errDisk
	}
	return l.store.Do(ctx, id, func(r *session.Record, save func() error) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		change(r, a, l.world)
		if a.Do == lifecycle.FinishStop || a.Do == lifecycle.EndLeftovers {
			l.ended = append(l.ended, l.world.endLeftovers(id)...)
		}
		if a.Do == lifecycle.Conclude {
			l.world.noLeftovers(id)
		}
		return save()
	})
}

func (l *lives) Reattach(uuid.UUID) error { return nil }

// Settle decides about the record as it is now.
func (l *lives) Settle(ctx context.Context, id uuid.UUID, _ session.Rule) error {
	r, ok := l.store.Get(id)
	if !ok {
		return session.ErrNotFound
	}
	l.mu.Lock()
	w := l.world
	f, pane := index(w).facts(r)
	l.mu.Unlock()
	a := Action{Do: lifecycle.Decide(r, f).Do, Pane: pane}
	switch {
	case a.Do == lifecycle.Discard:
		return l.store.Remove(id)
	case a.Do == lifecycle.MarkLost && r.Binding != nil:
		a.Closed = lifecycle.HowLost(*r.Binding, w.Boot, w.sameServer(*r.Binding) == process.No)
	}
	return l.do(ctx, id, a)
}

func (l *lives) Abandon(ctx context.Context, id uuid.UUID, _ session.Rule, _, closed string) error {
	if closed != "" && closed != session.ClosedSilent {
		return fmt.Errorf("recovery closes %s as %s", id, closed)
	}
	return l.do(ctx, id, Action{Do: Abandon})
}

func (l *lives) EndLeftovers(ctx context.Context, id uuid.UUID, _ session.Rule) ([]ending.Ending, error) {
	return nil, l.do(ctx, id, Action{Do: lifecycle.EndLeftovers})
}

func (l *lives) Note(ctx context.Context, id uuid.UUID, rule session.Rule, why string) error {
	return l.store.Do(ctx, id, func(r *session.Record, save func() error) error {
		r.Note(l.world.Now, rule, why)
		return save()
	})
}

func (l *lives) Adopt(ctx context.Context, q lifecycle.AdoptRequest) (target session.Record, err error) {
	if l.fail[q.From] {
		return session.Record{}, lifecycle.ErrChanged
	}
	return target, l.store.Do(ctx, q.From, func(r *session.Record, save func() error) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		takeOver(r, Action{Agent: q.Agent, Pane: l.paneOf(q.Agent)}, l.world)
		l.world.adopted(*r)
		target = r.Clone()
		return save()
	})
}

// paneOf returns the pane of a writer.
func (l *lives) paneOf(agent process.Identity) tmux.Pane {
	for _, writers := range l.world.Survey.Writers {
		for _, w := range writers {
			if w.Identity == agent {
				return w.Pane
			}
		}
	}
	return tmux.Pane{}
}

func (l *lives) Close(context.Context, uuid.UUID, session.Rule, string, string) error {
	return fmt.Errorf("recovery closes nothing at a start")
}

// memoryDir returns a folder that needs no disk, if the machine has one.
func memoryDir(t testing.TB) string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		dir, err := os.MkdirTemp("/dev/shm", "recovery-*")
		if err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			return dir
		}
	}
	return t.TempDir()
}
