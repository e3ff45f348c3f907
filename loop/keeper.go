package loop

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/each"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/internal/sysfault"
	"ccbot/lifecycle/outcome"
	"ccbot/lifecycle/typing"
	"ccbot/port"
	"ccbot/port/folders"
)

// Keeper runs the loops of one ccbot.
type Keeper struct {
	Engine    Engine
	Processes Processes
	Env       []string // of the checks; nothing in it is secret
	// Spared returns why a process is not ended, such as the agent of a session; nil: it may be.
	Spared func(process.Process) error
	// Tell reports a start, a pause or an end to the chat. After an error or a crash it is called
	// again.
	Tell func(ctx context.Context, l port.Loop) error
	// Changed is called when a loop has changed for readers; it must not wait. nil: nothing is called.
	Changed func()
	// Ended and Purged are called when a loop has ended or was removed, with its age; nil: nothing is.
	Ended, Purged func(state port.LoopState, age time.Duration)
	Cleaned       func(ok bool) // is called after a removal of a worktree, or its failure; may be nil
	Away, Stale   time.Duration // how long ccbot was away before this run, and from when on a loop then waits for a tap; 0: never
	PurgeAfter    time.Duration // the time from a loop's end until its removal; 0: never
	Copies        spool.Folder  // of the removed loops
	Now           func() time.Time
	Log           *slog.Logger
	Failpoint     func(name string) // nil except in programs that are built to die there

	store store
	woken chan struct{}

	starting sync.Mutex // held while a loop begins or is raised, so that no two get one session

	mu    sync.Mutex // guards loops; readers in sessions need it
	loops map[uuid.UUID]*held
}

// held is a loop in memory.
type held struct {
	mu      sync.Mutex // held while one step is carried out, but not while a check runs
	loop    Loop
	shown   atomic.Pointer[Loop] // loop at the last unlock, for readers: a step may cause one
	running sync.Mutex           // held by the one step that is under way
	spent   time.Time            // when its use was counted last
	pressed uuid.UUID            // the attempt in which this run has pressed Esc
	cut     func()               // ends the check that runs; nil: none does
	changed func()               // of the Keeper
	away    bool                 // the loop moved before a long absence, and waits for a tap
	unsaved bool                 // the loop was paused, and the disk did not take it
	failed  string               // the error of the last step; empty: it has not failed
	woken   chan struct{}        // wakes the step in a turn
	pauses  pause.Backoff        // between steps that fail
	again   time.Time            // no step before it; zero: none has failed
}

// The intervals of steps: of a loop that moves, and without one.
const (
	interval     = time.Second
	idleInterval = 30 * time.Second
	// minInterval is the shortest time between two steps in a turn: each count of the use looks at all
	// conversations.
	minInterval = 300 * time.Millisecond
	// spentInterval is the longest time between two counts while a turn runs or a limit lasts.
	spentInterval = 5 * time.Second
	// spentTimeout is how long one count may take: the next one continues.
	spentTimeout = 5 * time.Second
)

// Run moves all loops until ctx ends. Their checks end with it.
func (k *Keeper) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	var purged time.Time
	for ctx.Err() == nil {
		wait := purgeInterval
		if time.Since(purged) >= purgeInterval {
			k.Purge(ctx)
			g.Go(func() error { k.removeWorktrees(ctx); return nil }) // git may take long
			purged = time.Now()
		}
		for _, h := range k.all() {
			if !h.running.TryLock() { // a step is under way, and its lock may be held for long
				wait = interval
				continue
			}
			l := h.copy()
			early := time.Until(h.due())
			if !l.State.Live() && !l.unreported() || early > 0 {
				h.running.Unlock()
				if early > 0 {
					wait = min(wait, early)
				}
				continue
			}
			wait = min(wait, idleInterval)
			if l.State.Moves() {
				wait = interval
			}
			g.Go(func() error {
				defer h.running.Unlock()
				k.work(ctx, h)
				return nil
			})
		}
		pause.Until(ctx, wait, k.woken)
	}
	return errors.Join(g.Wait(), ctx.Err())
}

// advance takes steps until there is nothing to do now.
func (k *Keeper) advance(ctx context.Context, h *held) (err error) {
	for again := true; again && err == nil && ctx.Err() == nil; {
		again, err = k.step(ctx, h)
	}
	return err
}

// work advances a loop, and as long as its turn runs again at each answer, which may reach a bound,
// and at each change.
func (k *Keeper) work(ctx context.Context, h *held) {
	attempt := func() (well bool) {
		err := k.advance(ctx, h)
		if ctx.Err() == nil {
			h.noteStep(k.Log, err)
		}
		return err == nil
	}
	if !attempt() || !h.inTurn() {
		return
	}
	listens, end := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer end()
	listening.Go(func() { k.Engine.Listen(listens, h.copy().Session, func() { pause.Poke(h.woken) }) })
	for well := true; well && h.inTurn() && pause.For(ctx, minInterval) == nil; well = attempt() {
		if pause.Until(ctx, interval-minInterval, h.woken) {
			h.mu.Lock()
			h.spent = time.Time{}
			h.mu.Unlock()
		}
	}
}

func (h *held) inTurn() bool {
	l := h.shown.Load()
	return l.State.Moves() && l.Step == port.LoopTurn
}

func (h *held) due() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.again
}

// noteStep logs the first failure of several in a row, and delays the next step.
func (h *held) noteStep(log *slog.Logger, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.failed, h.again = "", time.Time{}
		h.pauses.Reset()
		return
	}
	if h.failed != err.Error() {
		h.warn(log, err)
	}
	h.failed, h.again = err.Error(), time.Now().Add(h.pauses.Next())
}

func (h *held) warn(log *slog.Logger, err error) {
	l := h.copy()
	log.Warn("loop_step_failed", logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String(), logkey.Error, err)
}

func (k *Keeper) at(name string) {
	if k.Failpoint != nil {
		k.Failpoint(name)
	}
}

// step takes one decision and carries it out. again reports that another step may follow at once.
func (k *Keeper) step(ctx context.Context, h *held) (again bool, err error) {
	h.mu.Lock()
	if k.Engine.Unread(h.loop.Session) { // nothing is known about the session
		h.unlock()
		return false, nil
	}
	if h.loop.State.Live() && h.loop.preparing() { // a crash came before its session was known
		h.unlock()
		k.starting.Lock()
		defer k.starting.Unlock()
		return true, k.prepare(ctx, h)
	}
	var a act
	if h.loop.unreported() {
		err = k.tell(ctx, &h.loop)
	}
	if err == nil {
		a, err = k.decide(ctx, h)
	}
	if err != nil || a.Do != doCheck {
		defer h.unlock()
		if err != nil || a.Do == doNothing {
			return false, err
		}
		if err = k.carryOut(ctx, h, a); errors.Is(err, typing.ErrIdle) { // of Esc: it is pressed later
			return false, nil
		}
		return true, err
	}
	h.unlock()
	return true, k.judge(ctx, h)
}

// decide looks at what the decision needs.
func (k *Keeper) decide(ctx context.Context, h *held) (act, error) {
	l := &h.loop
	if h.unsaved {
		if err := k.store.put(*l); err != nil {
			return act{}, err
		}
		h.unsaved = false
	}
	r, known := k.Engine.Session(l.Session)
	s := sessionOf(r, known)
	if a := h.atStart(s, k.Now()); h.away && a.Do != doNothing {
		return a, nil
	}
	s.Pressed = h.pressed == l.Key()
	if known && l.State.Moves() && (l.Step != port.LoopTurn && l.State != port.LoopWaiting || k.Now().Sub(h.spent) >= spentInterval) {
		h.spent = k.Now()
		limited, cancel := context.WithTimeout(ctx, spentTimeout) // a person's prompt waits for h.mu
		defer cancel()
		spent, err := k.Engine.Spent(limited, l.Session, l.CreatedAt)
		if err != nil {
			return act{}, err
		}
		l.Used.Tokens += max(0, spent.Tokens-l.Counted.Tokens) // less: a day has left the ledger's window
		l.Used.Cost += max(0, spent.Cost-l.Counted.Cost)
		l.Used.Unpriced, l.Counted = spent.Unpriced, spent
	}
	if known && l.State.Moves() && l.Step == port.LoopAsk {
		var err error
		if s.Kept, err = isKept(ctx, k.Engine, l); err != nil {
			return act{}, err
		}
	}
	if known && l.State.Moves() && l.Step != port.LoopTurn {
		now, err := os.Stat(r.Dir + "/") // only a folder has such a path
		if sysfault.IsNoFolder(err) || isReplaced(r.Dir, l.Tree) || err == nil && l.isOther(now) {
			s.Missing = r.Dir
		}
		s.Tree = k.movedInto(*l, r.Folder())
		if _, runs := k.checkFolder(*l, r); !runs {
			s.Elsewhere = r.Folder()
		}
	}
	if known && l.looks(k.Now()) {
		about := l.Typed
		if l.Step == port.LoopAsk {
			about = l.Before
		}
		o, p, err := k.Engine.Outcome(ctx, r, l.Key(), about)
		if err != nil {
			return act{}, err
		}
		if s.Turn = o; l.Step == port.LoopTurn && l.Typed == nil && p.Finished {
			if l.Typed = &p; k.store.put(*l) != nil { // the next step finds it again
				l.Typed = nil
			}
		}
	}
	return next(*l, s, k.Now()), nil
}

// atStart decides what needs no look at the turn: the session has ended, or people no longer expect the loop's prompts.
func (h *held) atStart(s seen, now time.Time) act {
	a := orphan(h.loop, s, now)
	if a.Do == doNothing && h.away && h.loop.State.Moves() {
		a = act{Do: doPause, Reason: port.WhyAway}
	}
	return a
}

// isReplaced reports whether a link has taken the place of a folder of a tree, and leads out of the tree: neither a check nor a prompt
// of the loop belongs there.
func isReplaced(dir, tree string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && tree != "" && folders.IsBelow(dir, tree) && !folders.IsBelow(real, tree)
}

// isOther reports whether another folder has taken the place of the session's; at the first look it takes its numbers. A restart may
// give a file system another device number, so a folder of another device counts as the same one.
func (l *Loop) isOther(now os.FileInfo) bool {
	s, ok := now.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	device := uint64(s.Dev) //nolint:unconvert // it has another type on macOS
	if l.Inode != 0 && l.Device == device {
		return l.Inode != s.Ino
	}
	l.Device, l.Inode = device, s.Ino
	return false
}

// checkFolder returns the folder in which the check of a loop runs: that of the session's start, or, if the agent now works in another
// work tree of the same repository, the one there, whose files the agent changes. false: the agent works elsewhere.
func (k *Keeper) checkFolder(l Loop, r session.Record) (dir string, runs bool) {
	switch now := r.Folder(); {
	case folders.IsBelow(now, r.Dir), k.tree(now) == l.Tree:
		return r.Dir, true
	case k.Engine.Same(now, r.Dir):
		return now, true
	}
	return "", false
}

// tree returns the top of the work tree that a folder is in; without one it is the folder itself.
func (k *Keeper) tree(dir string) string { return cmp.Or(k.Engine.Top(dir), dir) }

// movedInto returns the name of the session whose live loop has the work tree of a folder, if the
// agent of another loop has moved there.
func (k *Keeper) movedInto(l Loop, dir string) string {
	tree := k.tree(dir)
	if tree == l.Tree {
		return ""
	}
	for _, h := range k.all() {
		if by := h.shown.Load(); by.ID != l.ID && by.State.Live() && by.Tree == tree {
			return by.Name
		}
	}
	return ""
}

// carryOut carries out a decision, except for a check. The caller holds h.mu.
func (k *Keeper) carryOut(ctx context.Context, h *held, a act) error {
	was := h.loop.Clone()
	l := &h.loop
	if a.Do == doKeep {
		// The key is on disk: it is made of the iteration and the attempt, which were saved before.
		if err := k.Engine.Keep(ctx, l.Session, l.Key(), l.Text()); err != nil {
			return err
		}
		k.at("loop-asked")
	}
	l.apply(a, k.Now())
	if err := k.store.put(*l); err != nil {
		h.loop = was
		return err
	}
	h.away = false
	switch a.Do {
	case doKeep:
		k.Log.Info("loop_asked", logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String(), logkey.Count, l.Iteration, logkey.Attempt, l.Attempt)
	case doAgain, doPlanned, doIterate, doWait:
		k.at("loop-asking")
	case doTurnOver:
		k.at("loop-turn-over")
	case doEsc:
		return k.press(ctx, h)
	case doPause, doEnd:
		k.settled(ctx, l)
	}
	return nil
}

// press interrupts the turn in which a bound was reached. A prompt that is not typed yet is taken
// back: the agent may be busy with the turn of another prompt. typing.ErrIdle: the turn has not
// begun, or its end is not noted yet.
func (k *Keeper) press(ctx context.Context, h *held) error {
	err := k.Engine.Withdraw(ctx, h.loop.Session, h.loop.Key())
	if err != nil {
		return err
	}
	r, _ := k.Engine.Session(h.loop.Session)
	o, _, err := k.Engine.Outcome(ctx, r, h.loop.Key(), h.loop.Typed)
	if err != nil || o.Kind != outcome.Open {
		return err // the next step ends the loop
	}
	err = k.Engine.Interrupt(ctx, h.loop.Session)
	switch {
	case errors.Is(err, typing.ErrAsks):
		h.loop.apply(act{Do: doPause, Reason: port.WhyDialog, Detail: string(h.loop.Esc)}, k.Now())
		h.loop.Esc = ""
		if err := k.store.put(h.loop); err != nil {
			return err
		}
		k.settled(ctx, &h.loop)
		return nil
	case err == nil:
		h.pressed = h.loop.Key()
	}
	return err
}

// withdraw takes back the prompt of a loop that is paused or has ended, unless it is typed.
func (l *Loop) withdraw(ctx context.Context, e Engine) error {
	if l.State.Moves() || l.Step == port.LoopCheck || l.Typed != nil {
		return nil
	}
	return e.Withdraw(ctx, l.Session, l.Key())
}

// settled takes back the prompt of a loop that was paused or has ended. The next step tells the
// chat; before that it withdraws the prompt again, because this may fail.
func (k *Keeper) settled(ctx context.Context, l *Loop) {
	if err := l.withdraw(ctx, k.Engine); err != nil {
		k.Log.Warn("loop_prompt_not_withdrawn", logkey.LoopID, l.ID.String(), logkey.Error, err)
	}
	log := k.Log.With(logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String(), logkey.Reason, string(l.Reason), logkey.Count, l.Iteration)
	if l.State == port.LoopPaused {
		log.Info("loop_paused")
	} else {
		age := k.Now().Sub(l.CreatedAt)
		log.Info("loop_ended", logkey.State, string(l.State), logkey.Duration, age.Round(time.Second))
		if k.Ended != nil {
			k.Ended(l.State, age)
		}
	}
	k.at("loop-settled")
}

// tell tells the chat how a loop stands. A crash repeats it.
func (k *Keeper) tell(ctx context.Context, l *Loop) error {
	if err := l.withdraw(ctx, k.Engine); err != nil {
		return err
	}
	if err := k.Tell(ctx, l.Clone().Loop); err != nil {
		return err
	}
	k.at("loop-told")
	was := l.Reported
	l.Reported = l.State
	if err := k.store.put(*l); err != nil {
		l.Reported = was
		return err
	}
	return nil
}

func (k *Keeper) all() []*held {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]*held, 0, len(k.loops))
	for _, h := range k.loops {
		all = append(all, h)
	}
	return all
}

func (k *Keeper) hold(l Loop) *held {
	h := &held{loop: l, changed: k.Changed, woken: make(chan struct{}, 1), pauses: pause.Backoff{Min: interval, Max: time.Minute}}
	h.mu.Lock()
	h.unlock()
	return h
}

// unlock shows the loop to readers, and unlocks h.mu.
func (h *held) unlock() {
	l := h.loop.Clone()
	was := h.shown.Swap(&l)
	h.mu.Unlock()
	if h.changed != nil && was != nil && !reflect.DeepEqual(was.Loop, l.Loop) {
		h.changed()
	}
}

// copy waits for no step: the chat asks for loops also while one is under way.
func (h *held) copy() Loop { return h.shown.Load().Clone() }

// All returns all loops, the newest last, without those that were removed.
func (k *Keeper) All(context.Context) ([]port.Loop, error) {
	var all []Loop
	for _, h := range k.all() {
		if l := h.copy(); !l.Removed() {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, byAge)
	return each.As(all, func(l Loop) port.Loop { return l.Loop }), nil
}

// Live returns the live loop of a session.
func (k *Keeper) Live(id uuid.UUID) (Loop, bool) {
	for _, h := range k.all() {
		if l := h.shown.Load(); l.Session == id && l.State.Live() && !l.preparing() {
			return l.Clone(), true
		}
	}
	return Loop{}, false
}

// Moves reports whether a session has a loop that continues by itself.
func (k *Keeper) Moves(id uuid.UUID) bool {
	l, live := k.Live(id)
	return live && l.State.Moves()
}
