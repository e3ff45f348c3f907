package loop

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/lifecycle/outcome"
	"ccbot/lifecycle/typing"
	"ccbot/port"
)

// fakeEngine is an agent whose turns end at once.
type fakeEngine struct {
	mu     sync.Mutex
	record session.Record
	kept   []string             // the texts that the agent got, in order
	keys   map[uuid.UUID]string // those that were ever kept
	turn   outcome.Outcome      // of each prompt
	each   Spent                // what a turn costs
	spent  Spent
	before Spent // before the loop
	escs   int
	// unfinished: the inbox has not finished the prompt.
	unfinished bool
	asks       bool // a dialog is open at Esc
	withdrew   int
	tree       string
	onKeep     func() // called when a prompt is kept
	noGit      bool   // the content of the work tree is unknown
	onTree     func() // called after each check
	// onWithdraw is called when a prompt is taken back.
	onWithdraw    func()
	withdrawError error
	escError      error // of Interrupt
	unread        bool  // the record of the session could not be read
	onPlace       func()
	worktree      fakeWorktree
	noCommit      bool
	onSpent       func(ctx context.Context)
	onListen      func(ctx context.Context, heard func())
}

func (e *fakeEngine) Listen(ctx context.Context, _ uuid.UUID, heard func()) {
	if e.onListen != nil {
		e.onListen(ctx, heard)
	}
}

func (e *fakeEngine) Session(id uuid.UUID) (session.Record, bool) {
	if id == e.worktree.record.ID && id != e.record.ID && id != uuid.Nil {
		return e.worktree.record, true
	}
	return e.record, id == e.record.ID
}

func (e *fakeEngine) Unread(uuid.UUID) bool { return e.unread }

func (e *fakeEngine) Keep(_ context.Context, _, key uuid.UUID, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, is := e.keys[key]; is {
		return nil
	}
	e.keys[key] = text
	e.kept = append(e.kept, text)
	e.spent.Tokens, e.spent.Cost, e.spent.Unpriced = e.spent.Tokens+e.each.Tokens, e.spent.Cost+e.each.Cost, e.spent.Unpriced || e.each.Unpriced
	if e.onKeep != nil {
		e.onKeep()
	}
	return nil
}

func (e *fakeEngine) Outcome(_ context.Context, _ session.Record, key uuid.UUID, known *outcome.Prompt) (outcome.Outcome, outcome.Prompt, error) {
	if _, kept := e.keys[key]; !kept && known == nil {
		return outcome.Outcome{Kind: outcome.Withdrawn}, outcome.Prompt{Finished: true}, nil
	}
	return e.turn, outcome.Prompt{Finished: !e.unfinished}, nil
}

func (e *fakeEngine) Withdraw(context.Context, uuid.UUID, uuid.UUID) error {
	e.withdrew++
	if e.onWithdraw != nil {
		e.onWithdraw()
	}
	return e.withdrawError
}

func (e *fakeEngine) Interrupt(context.Context, uuid.UUID) error {
	switch {
	case e.asks:
		return typing.ErrAsks
	case e.escError != nil:
		return e.escError
	}
	e.escs++
	e.turn.Kind = outcome.Stopped
	return nil
}

func (e *fakeEngine) Spent(ctx context.Context, _ uuid.UUID, since time.Time) (Spent, error) {
	if e.onSpent != nil {
		e.onSpent(ctx)
	}
	if since.After(noon.Add(-time.Minute)) {
		return e.spent, nil
	}
	return e.before, nil
}

func (e *fakeEngine) Place(_ context.Context, dir string) (repo, branch, commit string) {
	if e.onPlace != nil {
		e.onPlace()
	}
	if e.noCommit {
		return dir, "main", ""
	}
	return dir, "main", fmt.Sprint("commit ", len(e.kept))
}

// Top implements Engine: a folder named sub is in its parent's work tree.
func (e *fakeEngine) Top(dir string) string {
	if filepath.Base(dir) == "sub" {
		return filepath.Dir(dir)
	}
	return dir
}

// Same implements Engine: worktrees are folders named worktree.
func (e *fakeEngine) Same(dir, _ string) bool { return filepath.Base(dir) == "worktree" }

func (e *fakeEngine) Snapshot(context.Context, uuid.UUID) string {
	return fmt.Sprint("tree ", len(e.kept))
}

func (e *fakeEngine) Tree(context.Context, uuid.UUID) string {
	if e.onTree != nil {
		e.onTree()
	}
	if e.tree != "" || e.noGit {
		return e.tree
	}
	return fmt.Sprint(len(e.kept)) // each turn changes it
}

// world is a Keeper with a fake engine and real processes.
type world struct {
	*Keeper
	t      *testing.T
	dir    string
	engine *fakeEngine
	now    time.Time
	told   []port.Loop
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, dir: filepath.Join(dir, "loops"), now: noon, engine: &fakeEngine{keys: make(map[uuid.UUID]string),
		record: session.Record{ID: uuid.New(), Name: "api", Dir: dir, State: session.Running}, turn: outcome.Outcome{Kind: outcome.Answered}}}
	w.restart()
	return w
}

// restart is a new Keeper for the same files, as after kill -9.
func (w *world) restart() {
	w.t.Helper()
	w.restartAfter(0)
}

// restartAfter is restart after an absence.
func (w *world) restartAfter(away time.Duration) {
	w.t.Helper()
	table, err := process.NewTable()
	require.NoError(w.t, err)
	env := []string{"PATH=/usr/bin:/bin", "GORACE=atexit_sleep_ms=0"} // otherwise each holder sleeps for a second at its end
	w.Keeper = &Keeper{Engine: w.engine, Processes: table, Env: env, Spared: func(process.Process) error { return nil },
		Tell: func(_ context.Context, l port.Loop) error { w.told = append(w.told, l); return nil }, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler),
		Away: away, Stale: 24 * time.Hour, PurgeAfter: 24 * time.Hour, Copies: spool.Folder{Path: filepath.Join(filepath.Dir(w.dir), "purged"), Fsync: true}}
	require.NoError(w.t, w.Open(w.dir, filepath.Join(filepath.Dir(w.dir), "quarantine")))
	w.Settle(w.t.Context())
}

func (w *world) begin(check string, b port.LoopBounds) Loop {
	w.t.Helper()
	l, err := w.Start(w.t.Context(), port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Task: "fix it", Check: check, Bounds: b})
	require.NoError(w.t, err)
	return w.loops[l.ID].copy()
}

// beginCheck begins the check of the only loop, as a ccbot that is killed afterwards.
func (w *world) beginCheck() (*check, process.Identity) {
	w.t.Helper()
	c := w.checkOf(w.all()[0])
	require.NoError(w.t, c.start(w.all()[0].copy().Check, w.engine.record.Dir, w.Env))
	holder, err := c.table.Identify(c.cmd.Process.Pid)
	require.NoError(w.t, err)
	require.NoError(w.t, c.note(holder))
	_, err = c.hold.WriteString("go\n")
	require.NoError(w.t, err)
	return c, holder
}

// run advances all loops until nothing is to be done.
func (w *world) run() {
	w.t.Helper()
	for _, h := range w.all() {
		require.NoError(w.t, w.advance(w.t.Context(), h))
	}
}

// only is the only loop, as the disk has it.
func (w *world) only() Loop {
	w.t.Helper()
	all, err := Read(w.dir, w.Log)
	require.NoError(w.t, err)
	require.Len(w.t, all, 1)
	return all[0]
}

// All returns all loops, without an error.
func (w *world) All() []port.Loop {
	all, _ := w.Keeper.All(context.Background())
	return all
}
