package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
)

// Recovery looks, plans and applies.
type Recovery struct {
	Instance string
	Session  string // tmux session
	Dir      string // $CCBOT_DIR: windows.json is there
	Limits   Limits
	Booted   time.Time // when the machine was started; zero: not known
	// Since is the time at which this ccbot began to own the records: it launched every agent that
	// was launched later. Zero: it only looks.
	Since time.Time

	Store     Records
	Tmux      Tmux
	Processes Processes
	Evidence  Evidence
	Lifecycle Lives // nil: this Recovery only looks
	// Unread reports whether a session's transcript is left unread; nil: none is.
	Unread func(r session.Record) bool
	// Events processes what hooks noted while no ccbot ran. It is called after the agents are bound
	// again, and before a session is called over: the last events of a session may say that it has
	// moved to another conversation.
	Events func(ctx context.Context) error
	// Backup copies the records before anything is changed.
	Backup func(ctx context.Context) (name string, err error)
	// Notify reports to the chat what was done while no Run was under way; nil: nothing is reported.
	// The records keep what could not be reported.
	Notify func(ctx context.Context, r Report) error
	// Failpoint is called at each persisted step with its name. It is nil except in programs that
	// are built to die there.
	Failpoint func(name string)
	Now       func() time.Time
	Log       *slog.Logger

	mu      sync.Mutex
	watched map[uuid.UUID]bool // handed to Lifecycle
	// running is the report of the Run that is under way; nil: none. Conversations that come back
	// at the same time change records too: they need the same backup, and are in the same report.
	running *Report

	one    sync.Mutex // held by a Run
	moving sync.Mutex // held while it is decided to which session a returning conversation belongs
	file   sync.Mutex // held while windows.json is read and written
}

// sideBySide is the number of records that are changed at the same time.
const sideBySide = 8

// applyAll applies actions at the same time; each is for a different record.
func (v *Recovery) applyAll(ctx context.Context, w World, actions []Action) []Result {
	planned := make(map[uuid.UUID]session.Record)
	for _, r := range w.Records {
		planned[r.ID] = r
	}
	results := make([]Result, len(actions))
	var g errgroup.Group
	g.SetLimit(sideBySide)
	for i, a := range actions {
		g.Go(func() error {
			results[i] = v.apply(ctx, a, planned[a.Record])
			return nil
		})
	}
	_ = g.Wait() // always nil: each result has its own error
	return results
}

func (v *Recovery) apply(ctx context.Context, a Action, planned session.Record) Result {
	started := v.Now()
	a.log(v.Log)
	ended, err := v.noted(ctx, a, planned)
	if err != nil {
		v.Log.Error("recovery_failed", logkey.Do, string(a.Do), logkey.SessionID, a.Record.String(), logkey.Error, err)
	}
	return Result{Action: a, Err: err, Took: v.Now().Sub(started), Ended: ended}
}

// log notes an action that is about to be carried out, or was.
func (a Action) log(log *slog.Logger) {
	log.With(a.Silence.fields()...).Info("recovery_action", logkey.Do, string(a.Do), logkey.SessionID, a.Record.String(), logkey.Why, a.Why, logkey.Evidence, a.Evidence)
}

// noted carries out an action between two lines of its record's history. An action that cannot be
// noted is not carried out.
func (v *Recovery) noted(ctx context.Context, a Action, planned session.Record) (ended []ending.Ending, err error) {
	if !a.Do.Changes() {
		return nil, v.watch(a.Record, v.Lifecycle.Reattach(a.Record))
	}
	if err := v.Lifecycle.Note(ctx, a.Record, a.rule(), "begins: "+a.Why+" ("+a.Evidence+")"); err != nil {
		return nil, err
	}
	v.at("recovery-noted")
	after := "done"
	// While the bot runs, others work on the record too, and writing the first line of its history
	// may have waited for them.
	if r, ok := v.Store.Get(planned.ID); ok && (r.State != planned.State || r.Agent() != planned.Agent()) {
		after = "no longer needed"
	} else if ended, err = v.carryOut(ctx, a); err != nil {
		after = "failed: " + err.Error()
	}
	v.at("recovery-applied")
	noted := v.Lifecycle.Note(ctx, a.Record, a.rule(), after)
	if errors.Is(noted, session.ErrNotFound) {
		noted = nil // the record was discarded
	}
	return ended, errors.Join(err, noted)
}

// rule is the name of the action in a history.
func (a Action) rule() session.Rule { return session.Rule("recovery." + string(a.Do)) }

func (v *Recovery) carryOut(ctx context.Context, a Action) (ended []ending.Ending, err error) {
	switch a.Do {
	case TakeOver:
		return nil, v.takeOver(ctx, a)
	case Abandon:
		return nil, v.Lifecycle.Abandon(ctx, a.Record, a.rule(), a.Why, a.Closed)
	case lifecycle.EndLeftovers:
		return v.Lifecycle.EndLeftovers(ctx, a.Record, a.rule())
	}
	return nil, v.watch(a.Record, v.Lifecycle.Settle(ctx, a.Record, a.rule()))
}

// takeOver adopts the agent that continues a session's conversation. If that fails, the session is
// lost all the same: nothing would look at it again.
func (v *Recovery) takeOver(ctx context.Context, a Action) error {
	bound, err := v.Lifecycle.Adopt(ctx, lifecycle.AdoptRequest{Agent: a.Agent, AgentSessionID: a.AgentSessionID, From: a.Record, Rule: a.rule(), Why: a.Why})
	if bound.ID == uuid.Nil {
		return errors.Join(err, v.Lifecycle.Settle(ctx, a.Record, a.rule()))
	}
	return errors.Join(err, v.watch(bound.ID, nil))
}

// watch notes that the lifecycle has taken over a session, unless err says that it has not.
func (v *Recovery) watch(id uuid.UUID, err error) error {
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watched == nil {
		v.watched = make(map[uuid.UUID]bool)
	}
	v.watched[id] = true
	return nil
}

func (v *Recovery) at(point string) {
	if v.Failpoint != nil {
		v.Failpoint(point)
	}
}

// Run recovers. It must be done before any update is handled or any window is made. An action that
// fails is in the report and leaves its record as it is; the other actions are still carried out.
// An error means that not everything was done; the report lists what was done. Without a backup
// nothing is changed.
func (v *Recovery) Run(ctx context.Context) (Report, error) {
	v.one.Lock()
	defer v.one.Unlock()
	v.mu.Lock()
	v.running = &Report{At: v.Now(), Booted: v.Booted}
	v.mu.Unlock()
	defer v.finishReport()
	if _, _, err := v.pass(ctx, binds); err != nil {
		return v.finishReport(), err
	}
	if err := v.Events(ctx); err != nil {
		v.Log.Error("events_not_taken_in", logkey.Error, err) // the events stay, and are delivered again
	}
	// The events may have changed the plan.
	world, notices, err := v.pass(ctx, func(d lifecycle.Do) bool { return !binds(d) })
	if err != nil {
		return v.finishReport(), err
	}
	written := writtenIn(ctx, v, notices)
	for _, n := range notices {
		v.notify(n, written)
	}
	report := v.finishReport()
	report.Notices = notices
	v.finish(&report, world)
	return report, ctx.Err()
}

// binds reports whether an action connects a record with a process. Such actions come before the
// events are processed, because an event counts only from a bound agent.
func binds(d lifecycle.Do) bool { return d == lifecycle.Reattach || d == lifecycle.Bind }

// pass looks, plans, and applies those actions that are due.
func (v *Recovery) pass(ctx context.Context, due func(lifecycle.Do) bool) (World, []Notice, error) {
	w := v.Collect(ctx)
	actions, notices := Plan(w)
	if slices.ContainsFunc(actions, func(a Action) bool { return a.Do.Changes() }) {
		if err := v.backUp(ctx); err != nil {
			return w, notices, fmt.Errorf("recovery changed nothing, %w", err)
		}
	}
	v.add(v.applyAll(ctx, w, slices.DeleteFunc(actions, func(a Action) bool { return !due(a.Do) })))
	return w, notices, nil
}

// finishReport closes the report of the Run that is under way and returns it. Later changes are
// reported in another way.
func (v *Recovery) finishReport() (report Report) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.running != nil {
		report, v.running = *v.running, nil
	}
	return report
}

// add puts results into the report of the Run that is under way, if there is one.
func (v *Recovery) add(results []Result) (added bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.running == nil {
		return false
	}
	v.running.Results = append(v.running.Results, results...)
	return true
}

// backUp copies the records before the first change that is made by a Run or during it. After that
// first time, and without a Run, it does nothing.
func (v *Recovery) backUp(ctx context.Context) error {
	v.mu.Lock() // a change by an arriving conversation may come at the same time
	defer v.mu.Unlock()
	run := v.running
	if run == nil || run.Backup != "" {
		return nil
	}
	name, err := v.Backup(ctx)
	run.Backup = name
	switch {
	case err != nil && name == "":
		return fmt.Errorf("because the records could not be backed up; nothing is lost: %w", err)
	case err != nil: // an older backup could not be removed
		v.Log.Warn("backups_not_pruned", logkey.Error, err)
	}
	return nil
}
