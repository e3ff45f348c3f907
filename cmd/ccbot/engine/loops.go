package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/offline"
	"ccbot/host"
	"ccbot/internal/git"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/outcome"
	"ccbot/lifecycle/view"
	"ccbot/loop"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/schedule"
)

// openPlans makes the parts that run loops and carry out schedules.
func (e *Engine) openPlans() error {
	quarantine := filepath.Join(e.Dir, "quarantine")
	turns := &loopEngine{Engine: e, diffs: e.diffs()}
	e.Loops = &loop.Keeper{Engine: turns, Processes: e.Table, Env: environment.Server(e.Environ), Spared: turns.spares, Tell: turns.tell,
		Ended: e.Counts.LoopEnded, Purged: e.Counts.LoopPurged, Cleaned: e.Counts.WorktreeCleaned, Away: e.Away, Stale: e.Limits().ResumeStale, PurgeAfter: e.LoopPurge, Copies: offline.PurgedLoops(e.Dir),
		Now: time.Now, Log: e.Log, Failpoint: Failpoint(e.Environ)}
	if err := e.Loops.Open(offline.Loops(e.Dir), quarantine); err != nil {
		return err
	}
	e.Schedules = &schedule.Keeper{Engine: scheduleEngine{turns}, Zone: e.TimeZone, Now: time.Now, Log: e.Log, Failpoint: Failpoint(e.Environ)}
	return e.Schedules.Open(offline.Schedules(e.Dir), quarantine)
}

// live returns the live loop of a session; nil: none.
func (e *Engine) live(id uuid.UUID) *port.Loop {
	if l, live := e.Loops.Live(id); live {
		return &l.Loop
	}
	return nil
}

// tell reports a start, a pause or an end of a loop to the chat.
func (e *loopEngine) tell(ctx context.Context, l port.Loop) error {
	r, known := e.Views().Get(l.Session)
	if !known {
		return nil
	}
	return e.Receipts.Chat.SessionNews(ctx, r, news.Looped{Loop: l})
}

// spares returns an error for an agent of a session: it is ended only by package ending.
func (e *loopEngine) spares(p process.Process) error {
	for _, r := range e.Store.Shared() {
		if r.Agent() == p.Identity {
			return &process.Spare{Reason: "agent", Detail: "it is the agent of session " + r.ID.String()}
		}
	}
	return nil
}

// loopEngine implements loop.Engine.
type loopEngine struct {
	*Engine
	diffs host.Diffs

	mu    sync.Mutex             // guards turns
	turns map[uuid.UUID]readTurn // the last one of each session
}

// readTurn is what was read of the answer to a prompt.
type readTurn struct {
	at     talk.Cursor // before its prompt
	text   string      // of its prompt
	answer func() (talk.Reply, error)
}

// Session implements loop.Engine.
func (e *loopEngine) Session(id uuid.UUID) (session.Record, bool) { return e.Store.Get(id) }

// Unread implements loop.Engine.
func (e *loopEngine) Unread(id uuid.UUID) bool {
	_, known := e.Store.Get(id)
	_, unread := e.Store.Unread(id)
	return !known && unread
}

// Keep implements loop.Engine.
func (e *loopEngine) Keep(ctx context.Context, id, key uuid.UUID, text string) error {
	return e.keep(ctx, id, Planned{Key: key, Text: text})
}

// keep puts a prompt on disk, and then into the queue of a session.
func (e *loopEngine) keep(ctx context.Context, id uuid.UUID, p Planned) (err error) {
	var ok bool
	if p.Session, ok = e.Store.Get(id); !ok {
		return session.ErrNotFound
	}
	return e.Planned.Keep(ctx, p, e.Lifecycle.Queues())
}

// Withdraw implements loop.Engine.
func (e *loopEngine) Withdraw(ctx context.Context, id, key uuid.UUID) error {
	return e.Planned.Withdraw(ctx, id, key, e.Lifecycle.Queues())
}

// Interrupt implements loop.Engine.
func (e *loopEngine) Interrupt(ctx context.Context, id uuid.UUID) error {
	return e.Lifecycle.Queues().EndTurn(ctx, id) // a person's prompts stay in the queue
}

// Outcome implements loop.Engine.
func (e *loopEngine) Outcome(_ context.Context, r session.Record, key uuid.UUID, known *outcome.Prompt) (o outcome.Outcome, p outcome.Prompt, err error) {
	if known != nil {
		p = *known
	} else if p, err = e.Planned.OutcomeOf(key); err != nil {
		return o, p, err
	}
	seen := outcome.Seen{State: r.State, Phase: view.Noted(r).Phase, Prompt: p}
	answer, path := e.answer(p, r)
	if answer != nil {
		if seen.Answer, err = answer(); err != nil {
			return o, p, fmt.Errorf("read the answer: %w", err)
		}
	}
	if p.Finished && p.Mark != nil && r.State == session.Running && seen.Phase == talk.PhaseIdle {
		since := p.Mark.At
		if r.PhaseAt.After(since) {
			since = r.PhaseAt
		}
		seen.Idle = time.Since(since)
	}
	o = seen.Outcome()
	if answer != nil && o.Kind != outcome.Open {
		o.Others, err = p.Others(e.Coding.Of(r.AgentName), path)
	}
	return o, p, err
}

// answer returns the answer to a prompt, as far as it was read.
func (e *loopEngine) answer(p outcome.Prompt, r session.Record) (read func() (talk.Reply, error), path string) {
	answer, path := p.Answer(e.Coding.Of(r.AgentName), r)
	if answer == nil {
		return nil, ""
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	at := talk.Cursor{Path: path, Offset: p.Mark.Offset}
	if last := e.turns[r.ID]; last.at == at && last.text == p.Text {
		return last.answer, path
	}
	if e.turns == nil {
		e.turns = make(map[uuid.UUID]readTurn)
	}
	e.turns[r.ID] = readTurn{at, p.Text, answer}
	return answer, path
}

// Spent implements loop.Engine.
func (e *loopEngine) Spent(ctx context.Context, id uuid.UUID, since time.Time) (loop.Spent, error) {
	sum, err := e.Spending.Since(ctx, id, since)
	return loop.Spent{Tokens: sum.Tokens(), Cost: sum.Cost, Unpriced: sum.Unpriced}, err
}

// Place implements loop.Engine.
func (e *loopEngine) Place(ctx context.Context, dir string) (repo, branch, commit string) {
	state, err := e.Observer.Git(ctx, dir)
	if err != nil || state == nil {
		return "", "", ""
	}
	repo = state.Root
	if shared, err := git.Shared(state.Root); err == nil {
		repo = strings.TrimSuffix(shared, "/.git")
	}
	return repo, state.Branch, state.Head
}

// Top implements loop.Engine.
func (e *loopEngine) Top(dir string) string { return git.TopOf(dir) }

// Same implements loop.Engine.
func (e *loopEngine) Same(dir, other string) bool { return git.SameRepository(dir, other) }

// snapshotTimeout is how long the start of a loop waits for a large work tree.
const snapshotTimeout = 10 * time.Second

// Snapshot implements loop.Engine.
func (e *loopEngine) Snapshot(ctx context.Context, id uuid.UUID) string {
	ctx, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	since, _ := e.diffs.Snapshot(ctx, id) // without it the card counts no changes
	return string(since)
}

// Tree implements loop.Engine.
func (e *loopEngine) Tree(ctx context.Context, id uuid.UUID) string {
	p, _ := e.diffs.Print(ctx, id) // an unknown tree proves no standstill
	return p
}

// personalQueues pauses the loop of a session before a person's prompt.
type personalQueues struct {
	host.Queues
	loops *loop.Keeper
}

func (q personalQueues) Queue(ctx context.Context, id uuid.UUID, o talk.Offer) error {
	q.loops.Yield(ctx, id, "a prompt")
	return q.Queues.Queue(ctx, id, o)
}

func (q personalQueues) Keep(ctx context.Context, id uuid.UUID, o talk.Offer) error {
	q.loops.Yield(ctx, id, "a prompt")
	return q.Queues.Keep(ctx, id, o)
}

func (q personalQueues) SendAgain(ctx context.Context, id uuid.UUID, key string) error {
	q.loops.Yield(ctx, id, "a prompt")
	return q.Queues.SendAgain(ctx, id, key)
}

func (q personalQueues) SendNow(ctx context.Context, id uuid.UUID, key string) (reported bool, err error) {
	q.loops.Yield(ctx, id, "a prompt")
	return q.Queues.SendNow(ctx, id, key)
}

func (q personalQueues) Halt(ctx context.Context, id uuid.UUID) error {
	q.loops.Yield(ctx, id, "a stop")
	return q.Queues.Halt(ctx, id)
}

// personalLifecycle pauses the loop of a session before a person's act.
type personalLifecycle struct {
	*lifecycle.Service
	loops *loop.Keeper
	woken chan struct{} // wakes the keeper
}

// SetIdleAfter pauses nothing.
func (l personalLifecycle) SetIdleAfter(ctx context.Context, id uuid.UUID, after *time.Duration) error {
	defer pause.Poke(l.woken)
	return l.Service.SetIdleAfter(ctx, id, after)
}

func (l personalLifecycle) Interrupt(ctx context.Context, id uuid.UUID) (reported bool, err error) {
	l.loops.Yield(ctx, id, "a stop")
	return l.Service.Interrupt(ctx, id)
}

func (l personalLifecycle) Archive(ctx context.Context, id uuid.UUID, final session.State, cause port.Cause) error {
	l.loops.Yield(ctx, id, "an end of the session")
	return l.Service.Archive(ctx, id, final, cause)
}

func (l personalLifecycle) BeginEnd(ctx context.Context, id uuid.UUID, final session.State, cause port.Cause) error {
	l.loops.Yield(ctx, id, "an end of the session")
	return l.Service.BeginEnd(ctx, id, final, cause)
}

func (l personalLifecycle) ArchiveQuiet(ctx context.Context, id uuid.UUID, q port.Silence) error {
	l.loops.Yield(ctx, id, "an end of the session")
	return l.Service.ArchiveQuiet(ctx, id, q)
}

func (l personalLifecycle) Switch(ctx context.Context, id uuid.UUID, want port.ModeChange) (port.ModeState, error) {
	if want != (port.ModeChange{}) {
		l.loops.Yield(ctx, id, "a change of mode or model")
	}
	return l.Service.Switch(ctx, id, want)
}

func (l personalLifecycle) Press(ctx context.Context, id uuid.UUID, mark, key string) (port.Dialog, error) {
	l.loops.Yield(ctx, id, "a key")
	return l.Service.Press(ctx, id, mark, key)
}

func (l personalLifecycle) Choose(ctx context.Context, id uuid.UUID, mark string, option int) (port.Dialog, error) {
	l.loops.Yield(ctx, id, "a key")
	return l.Service.Choose(ctx, id, mark, option)
}

func (l personalLifecycle) Screen(ctx context.Context, id uuid.UUID, press port.KeyOn) (port.Screen, error) {
	if press != (port.KeyOn{}) {
		l.loops.Yield(ctx, id, "a key")
	}
	return l.Service.Screen(ctx, id, press)
}

// agentsAndChecks counts a program below a loop's check as one below the agent of the loop's
// session.
type agentsAndChecks struct {
	*evidence.Sources
	loops *loop.Keeper
}

func (a agentsAndChecks) AgentAbove(ctx context.Context, chain []process.Process) (evidence.Above, error) {
	above, err := a.Sources.AgentAbove(ctx, chain)
	if err != nil || above.Found {
		return above, err
	}
	if id, below := a.loops.Below(chain); below {
		return evidence.Above{Found: true, Session: id}, nil
	}
	return above, nil
}
