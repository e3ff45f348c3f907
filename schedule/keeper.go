package schedule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/each"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Engine sends the prompts of schedules, and knows their sessions.
type Engine interface {
	// Session returns a session's record with its history; ok is false if there is none.
	Session(id uuid.UUID) (r session.Record, ok bool, err error)
	// Keep puts a prompt on disk and then into the queue of a session, where it waits if the session
	// has ended. With a key that was ever kept it does nothing.
	Keep(ctx context.Context, id, key uuid.UUID, text string) error
	// Withdraw takes a prompt back that is not typed yet; otherwise it does nothing.
	Withdraw(ctx context.Context, id, key uuid.UUID) error
	// Kept reports whether a prompt was ever kept.
	Kept(key uuid.UUID) (bool, error)
	// Outcome is loop.Engine's.
	Outcome(ctx context.Context, r session.Record, key uuid.UUID, known *outcome.Prompt) (outcome.Outcome, outcome.Prompt, error)
	// Resume resumes an ended session. refused is the reason for which it stays ended.
	Resume(ctx context.Context, id uuid.UUID) (refused *refusal.Error, err error)
	// Abilities returns the abilities of a session's agent.
	Abilities(r session.Record) port.Abilities
	// Looped reports whether a loop has a session.
	Looped(id uuid.UUID) bool
	// Tell reports to the chat of a schedule. After an error or a crash it is called again.
	Tell(ctx context.Context, s Schedule, r port.ScheduleReport) error
}

// Keeper carries out the schedules of one ccbot.
type Keeper struct {
	Engine    Engine
	Zone      string           // of a request that has none
	Now       func() time.Time // with a monotonic reading, which stops while the machine sleeps
	Log       *slog.Logger
	Failpoint func(name string) // nil except in programs that are built to die there

	folder spool.Folder
	woken  chan struct{}

	failing map[uuid.UUID]*failure // of the schedules whose last step has failed; only for advance

	mu  sync.Mutex // guards all, and is held while a schedule is saved
	all map[uuid.UUID]Schedule
}

// The intervals at which the clock is read: while a session comes back, while a turn runs, and
// else.
const (
	interval     = time.Second
	turnInterval = 5 * time.Second
	idleInterval = 30 * time.Second
	mostPause    = 10 * time.Minute // after a step that failed
)

// failure delays the next step of a schedule.
type failure struct {
	pauses pause.Backoff
	until  time.Time
}

// Open reads the schedules of a folder. Nothing happens before Run.
func (k *Keeper) Open(dir, quarantine string) error {
	k.folder, k.woken, k.all = spool.Folder{Path: dir, Fsync: true}, make(chan struct{}, 1), make(map[uuid.UUID]Schedule)
	k.failing = make(map[uuid.UUID]*failure)
	all, err := read(k.folder, quarantine, k.Log)
	if err != nil {
		return fmt.Errorf("open the schedules: %w", err)
	}
	for _, s := range all {
		k.all[s.ID] = s
	}
	return nil
}

// Run carries out all schedules until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait, before := k.advance(ctx), k.Now()
		pause.Until(ctx, wait, k.woken)
		now := k.Now()
		if jump := now.Round(0).Sub(before.Round(0)) - now.Sub(before); jump.Abs() > interval && ctx.Err() == nil {
			k.Log.Info("clock_jumped", logkey.Duration, jump.Round(time.Second))
		}
	}
	return ctx.Err()
}

// advance carries out what is due, and returns how long to wait.
func (k *Keeper) advance(ctx context.Context) time.Duration {
	wait := pause.Forever
	for _, s := range k.list() {
		if f := k.failing[s.ID]; f != nil && k.Now().Before(f.until) {
			continue
		}
		for again := true; again && ctx.Err() == nil; {
			var err error
			if again, err = k.step(ctx, s.ID); err == nil {
				delete(k.failing, s.ID)
			} else if ctx.Err() == nil {
				k.failed(s, err)
			}
		}
	}
	for _, s := range k.list() {
		wait = min(wait, idleInterval)
		if s.Run != nil {
			wait = min(wait, turnInterval)
		}
		if s.Run != nil && !s.Run.Sent {
			wait = interval
		} else if !s.Next.IsZero() {
			wait = min(wait, max(interval, s.Next.Sub(k.Now())))
		}
	}
	return wait
}

// failed logs the error of a step, and delays the next one.
func (k *Keeper) failed(s Schedule, err error) {
	f := k.failing[s.ID]
	if f == nil {
		f = &failure{pauses: pause.Backoff{Min: interval, Max: mostPause}}
		k.failing[s.ID] = f
	}
	f.until = k.Now().Add(f.pauses.Next())
	k.Log.Warn("schedule_step_failed", logkey.ScheduleID, s.ID.String(), logkey.SessionID, s.Session.String(), logkey.Error, err)
}

// step takes one decision and carries it out. again reports that another step may follow at once.
func (k *Keeper) step(ctx context.Context, id uuid.UUID) (again bool, err error) {
	k.mu.Lock()
	s, is := k.all[id]
	s = s.Clone()
	k.mu.Unlock()
	if !is {
		return false, nil
	}
	if len(s.Reports) > 0 {
		if err := k.Engine.Tell(ctx, s, s.Reports[0]); err != nil {
			return false, err
		}
		k.at("schedule-told")
		return true, k.change(id, func(s *Schedule) { s.Reports = s.Reports[1:] })
	}
	a, err := k.decide(ctx, s)
	if err != nil || a.Do == doNothing {
		return false, err
	}
	switch a.Do {
	case doResume:
		// Counted first, because ccbot may end in between.
		if err := k.change(id, func(s *Schedule) { s.Run.Tries, s.Run.Tried = s.Run.Tries+1, k.Now().UTC() }); err != nil {
			return false, err
		}
		refused, err := k.Engine.Resume(ctx, s.Session)
		if err != nil || refused == nil {
			return false, err
		}
		a = s.skips(port.SkipNotResumed)
		a.Detail = refused.Error()
		if a.Refusal, err = json.Marshal(refused); err != nil {
			return false, err
		}
	case doSend:
		if k.mustNotSend(id) {
			return false, nil
		}
		if err := k.Engine.Keep(ctx, s.Session, s.Key(), s.Text); err != nil {
			return false, err
		}
		k.at("schedule-kept")
		if k.mustNotSend(id) { // meanwhile
			return false, k.Engine.Withdraw(ctx, s.Session, s.Key())
		}
	case doDrop:
		if err := k.Engine.Withdraw(ctx, s.Session, s.Key()); err != nil {
			return false, err
		}
	}
	if err := k.change(id, func(s *Schedule) { s.apply(a) }); err != nil {
		return false, err
	}
	switch a.Do {
	case doBegin:
		k.at("schedule-begun")
	case doSend:
		k.at("schedule-sent")
	}
	k.Log.Info("schedule_step", logkey.ScheduleID, id.String(), logkey.SessionID, s.Session.String(), logkey.Act, string(a.Do), logkey.Reason, string(a.Reason))
	return true, nil
}

// mustNotSend reports whether a schedule was removed or barred.
func (k *Keeper) mustNotSend(id uuid.UUID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, is := k.all[id]
	return !is || s.Barred
}

// decide looks at what the decision needs, and notes what was seen.
func (k *Keeper) decide(ctx context.Context, s Schedule) (act, error) {
	r, known, err := k.Engine.Session(s.Session)
	if err != nil {
		return act{}, err
	}
	v := seen{Known: known, Record: r, Loop: k.Engine.Looped(s.Session)}
	was := s.Clone()
	if known {
		s.Conversation = r.Conversation
	}
	switch {
	case s.Run == nil:
	case !s.Run.Sent:
		v.Kept, err = k.Engine.Kept(s.Key())
	case known:
		o, p, err := k.Engine.Outcome(ctx, r, s.Key(), s.Run.Typed)
		if err != nil {
			return act{}, err
		}
		if v.Turn = o.Kind; p.Finished {
			s.Run.Typed = &p
		}
	}
	if err != nil {
		return act{}, err
	}
	if was.Conversation != s.Conversation || s.Run != nil && (was.Run.Typed == nil) != (s.Run.Typed == nil) {
		err = k.change(s.ID, func(now *Schedule) { now.Conversation, now.Run = s.Conversation, s.Run })
	}
	return next(s, v, k.Now()), err
}

// change changes a schedule on disk, unless a person has removed it. The file of an ended one is
// removed.
func (k *Keeper) change(id uuid.UUID, do func(s *Schedule)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, is := k.all[id]
	if !is {
		return nil
	}
	s = s.Clone()
	if do(&s); s.over() {
		return k.removeLocked(id)
	}
	return k.saveLocked(s)
}

func (k *Keeper) saveLocked(s Schedule) error {
	s.Next = s.next()
	data, err := s.MarshalJSON()
	if err == nil {
		err = k.folder.Put(s.ID.String()+suffix, append(data, '\n'))
	}
	if err == nil {
		k.all[s.ID] = s
	}
	return err
}

func (k *Keeper) removeLocked(id uuid.UUID) error {
	if err := k.folder.Remove(id.String() + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	delete(k.all, id)
	return nil
}

func (k *Keeper) at(name string) {
	if k.Failpoint != nil {
		k.Failpoint(name)
	}
}

// list returns all schedules, the oldest first.
func (k *Keeper) list() []Schedule {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := slices.SortedFunc(maps.Values(k.all), byAge)
	for i := range all {
		all[i] = all[i].Clone()
	}
	return all
}

// List implements port.Schedules.
func (k *Keeper) List(context.Context) ([]port.Schedule, error) {
	return each.As(k.list(), described), nil
}

// Next returns the next time at which a schedule of a session is due; zero: none is.
func (k *Keeper) Next(session uuid.UUID) (next time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.all {
		if s.Session == session && !s.Barred && !s.Next.IsZero() && (next.IsZero() || s.Next.Before(next)) {
			next = s.Next
		}
	}
	return next
}

// Errors of the verbs.
var (
	ErrNotFound = refusal.New(refusal.NotFound, "there is no such schedule")
	ErrEnded    = refusal.New(refusal.NoAgent, "the session has ended")
	ErrNoText   = refusal.New(refusal.NoText, "the prompt has no text to send")
)

// Add implements port.Schedules.
func (k *Keeper) Add(_ context.Context, q port.ScheduleRequest) (port.Schedule, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, is := k.all[q.Key]; is {
		return s.Schedule, nil
	}
	r, known, err := k.Engine.Session(q.Session)
	if err == nil && (!known || !r.State.Open() && !returns(r)) {
		err = ErrEnded
	}
	if err != nil {
		return port.Schedule{}, err
	}
	at, zone := k.Now().UTC(), cmp.Or(q.Zone, k.Zone)
	if !q.Asked.IsZero() && q.Asked.Before(at) {
		at = q.Asked.UTC()
	}
	if q.When == "" {
		q.When, q.Text = Cut(q.Text, at, location(zone))
	}
	s := Schedule{Version: Version, Conversation: r.Conversation, Decided: at, Schedule: port.Schedule{ID: q.Key, Session: r.ID, Name: r.Name, When: q.When,
		Text: q.Text, SkipMissed: q.SkipMissed, CreatedAt: at, Planner: port.Planner{By: q.By}}}
	s.Spec, err = Parse(q.When, at, location(zone))
	typed, class, some := talk.Normalise(q.Text)
	if err == nil && !some {
		err = ErrNoText
	}
	if err == nil {
		err = refusal.Unable(k.Engine.Abilities(r), typed, class)
	}
	if err == nil {
		err = s.inZone(zone)
	}
	if err == nil {
		err = k.saveLocked(s)
	}
	if err != nil {
		return s.Schedule, err
	}
	k.at("schedule-saved")
	k.Log.Info("schedule_added", logkey.ScheduleID, s.ID.String(), logkey.SessionID, s.Session.String())
	pause.Poke(k.woken)
	return s.Schedule, nil
}

// SetZone implements port.Schedules.
func (k *Keeper) SetZone(_ context.Context, _, id uuid.UUID, zone string) error {
	return k.set(id, func(s *Schedule) error { return s.inZone(zone) })
}

// SetPlanner implements port.Schedules. What fell due until now is not sent later.
func (k *Keeper) SetPlanner(_ context.Context, _, id uuid.UUID, by port.Planner) error {
	return k.set(id, func(s *Schedule) error {
		if at, _ := s.rule.due(s.Decided, k.Now()); s.Barred && !by.Barred && s.Run == nil && !at.IsZero() {
			s.apply(act{Do: doSkip, ScheduleReport: port.ScheduleReport{Reason: port.SkipBarred, At: at}})
		}
		s.Planner = by
		return nil
	})
}

// set changes a schedule as a person has decided.
func (k *Keeper) set(id uuid.UUID, do func(s *Schedule) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, is := k.all[id]
	if !is {
		return ErrNotFound
	}
	s = s.Clone()
	if err := do(&s); err != nil {
		return err
	}
	defer pause.Poke(k.woken)
	return k.saveLocked(s)
}

// Remove implements port.Schedules. It takes back a prompt that is not typed yet.
func (k *Keeper) Remove(ctx context.Context, _, id uuid.UUID) (port.Schedule, error) {
	k.mu.Lock()
	s, is := k.all[id]
	s = s.Clone()
	k.mu.Unlock()
	if is && s.Run != nil && s.Run.Sent {
		if err := k.Engine.Withdraw(ctx, s.Session, s.Key()); err != nil {
			return s.Schedule, err
		}
	}
	return k.remove(id)
}

func (k *Keeper) remove(id uuid.UUID) (port.Schedule, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, is := k.all[id]
	if !is {
		return s.Schedule, ErrNotFound
	}
	if err := k.removeLocked(id); err != nil {
		return s.Schedule, err
	}
	k.Log.Info("schedule_removed", logkey.ScheduleID, id.String(), logkey.SessionID, s.Session.String())
	return s.Schedule, nil
}

// Forget removes the schedules of an ended session, because a person has asked for it. It asks the
// session for nothing: its worker is the caller.
func (k *Keeper) Forget(session uuid.UUID) (err error) {
	for _, s := range k.list() {
		if s.Session != session {
			continue
		}
		if _, failed := k.remove(s.ID); !errors.Is(failed, ErrNotFound) {
			err = errors.Join(err, failed)
		}
	}
	return err
}
