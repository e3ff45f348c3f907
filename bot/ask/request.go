package ask

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/sysfault"
	"ccbot/port/refusal"
)

const (
	// pace is how often a request is looked at, and how long a hook has to dial again after a start.
	pace = 30 * time.Second
	// faultInterval is the pause after a fault of the machine has stopped something.
	faultInterval = 5 * time.Second
	// confirmInterval is the first pause before a look at the transcript after a hook has taken the decision. It doubles
	// up to pace: the reader of the transcript reports a result after the texts before it, which is late in a busy group.
	confirmInterval = time.Second
	// halfTime is how long the second line of a refusal in a transcript may take.
	halfTime = time.Second
)

// request is one request that is not over.
type request struct {
	of      *Requests
	id      string
	session uuid.UUID

	wake    chan struct{} // there is news for its goroutine:
	left    atomic.Bool   // its hook has gone
	loose   atomic.Bool   // its hook is to go
	ended   atomic.Bool   // its agent has ended
	giving  atomic.Bool   // a text that decides it leaves its queue
	reading atomic.Bool   // everything that it says is being shown
	queued  atomic.Bool   // its message waits for its turn
	failed  atomic.Bool   // a fault of the machine has stopped something

	mu  sync.Mutex // held while it changes, its card included; not over a wait for the chat
	due bool       // its card may not be as it should be
}

// startLocked has do run beside everything else while Run runs. A panic in it ends the request
// here, and leaves it to the terminal.
func (r *request) startLocked(do func(ctx context.Context)) {
	if r.of.crew == nil {
		return
	}
	r.of.crew.Add(func(ctx context.Context) {
		err := guard.Call(func() error { do(ctx); return nil })
		if p, crashed := errors.AsType[*guard.Panic](err); crashed {
			r.crashed(ctx, p)
		}
	})
}

func (r *request) crashed(ctx context.Context, p *guard.Panic) {
	a := r.of
	a.logCrash(r.id, p)
	if s, ok := r.get(); ok {
		text := chat.Warning + a.Chat.In(s.Conversation).Say(i18n.InternalError)
		r.note(a.Chat.Post(ctx, card.Look{To: s.Conversation, Session: r.session, Text: render.Plain(text)}))
	}
	now := a.Chat.Now() // whether a hook has its decision is not known
	r.note(r.turn(ctx, func(s State) State { return GiveWay(give(s, now), now) }))
}

func (r *request) note(err error) {
	if sysfault.Of(err) != "" {
		r.failed.Store(true)
	}
	r.of.note(r.id, err)
}

// get is the request as it is; false: it is over, or forgotten.
func (r *request) get() (State, bool) {
	if now, open := r.of.find(r.id); !open || now != r {
		return State{}, false
	}
	s, ok := r.of.Store.Get(r.id)
	return s, ok && !s.IsOver()
}

// turn changes a request that is not over.
func (r *request) turn(ctx context.Context, change func(State) State) error {
	old, next, err := r.change(ctx, func(s State) (State, error) { return change(s), nil })
	if errors.Is(err, errOver) {
		return nil
	}
	r.free(ctx, old, next)
	return err
}

// change gives a request its next state: on disk, then in the chat. A decision is shown when it is
// known whether a hook takes it. errOver: the request is over.
func (r *request) change(ctx context.Context, turn func(State) (State, error)) (old, next State, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, open := r.get()
	if !open {
		return old, old, errOver
	}
	if next, err = turn(old); err != nil {
		r.showLocked(ctx, old) // as it is by now
		return old, old, err
	}
	if next.IsOver() {
		if err := r.tellUnread(ctx, next); err != nil {
			return old, old, err
		}
	}
	changed := !reflect.DeepEqual(old, next)
	if changed {
		if err := r.of.Store.Save(next); err != nil {
			return old, old, err
		}
	}
	if next.IsOver() {
		r.remove()
		r.of.Over(ctx)
	}
	switch {
	case next.Stage == StageSent && old.Stage != StageSent:
		r.due = true
	case changed || r.due:
		r.showLocked(ctx, next)
	}
	return old, next, nil
}

// free lets the hook go of a request that nobody decides here any more. The dialog of the terminal,
// if it still stands, is looked at.
func (r *request) free(ctx context.Context, old, next State) {
	if old.Stage != next.Stage && (next.Stage == StageAway || next.IsOver()) {
		r.letGo(ctx)
	}
}

func (r *request) letGo(ctx context.Context) {
	r.of.Hooks.Leave(ctx, r.id)
	r.of.Queues.Wake(r.session)
}

// tellUnread says that a text which was given as a reason was not taken, or that it is unknown
// whether it was: it has left the queue, so nothing else says so.
func (r *request) tellUnread(ctx context.Context, s State) error {
	if s.Prompt == "" || s.Decision == nil || s.Outcome.Chat {
		return nil
	}
	key := i18n.AskTextLost
	broken := s.Outcome.What == Unknown || s.Outcome.What == Interrupted
	if broken && !s.Given.IsZero() {
		key = i18n.AskTextUnsure // a hook has it
	}
	text := r.of.Chat.In(s.Conversation).Text(key, i18n.Args{"Name": r.of.NameOf(s)})
	return r.of.Chat.Fail(ctx, s.Conversation, s.Text, text, nil)
}

// follow looks what becomes of a request until it is over, or ctx ends.
func (r *request) follow(ctx context.Context) {
	r.note(r.turn(ctx, r.housed))
	rounds := time.NewTicker(pace)
	defer rounds.Stop()
	var again, confirm <-chan time.Time
	unconfirmed := pause.Backoff{Min: confirmInterval, Max: pace}
	for r.settle(ctx) {
		if r.loose.Swap(false) {
			r.letGo(ctx)
		}
		if r.failed.Swap(false) && again == nil {
			again = time.After(faultInterval)
		}
		if s, _ := r.get(); confirm == nil && !s.Given.IsZero() {
			confirm = time.After(unconfirmed.Next())
		}
		select {
		case <-ctx.Done():
		case <-confirm:
			confirm = nil
		case <-r.wake:
			if ctx.Err() == nil && r.left.Swap(false) { // at a stop every hook leaves, to redial later
				r.note(r.leave(ctx))
			}
		case <-rounds.C:
			r.round(ctx)
		case <-again:
			again = nil
			r.round(ctx)
		}
	}
}

// round takes in what nothing wakes the request for.
func (r *request) round(ctx context.Context) {
	r.note(r.turn(ctx, r.heed))
	r.note(r.leave(ctx))
	r.note(r.endDelivery(ctx))
}

// endDelivery ends a decision that no hook takes, once the terminal's own dialog is in the chat: the
// decision is not given later, because a person may have answered there.
func (r *request) endDelivery(ctx context.Context) error {
	if !r.of.dialogs.IsShown(r.session) || r.waits(ctx) {
		return nil
	}
	return r.turn(ctx, func(s State) State { return undeliver(s, r.of.Chat.Now()) })
}

// leave takes in that the request's hook has left, unless the hook waits. A request that nobody has
// seen leaves nothing behind.
func (r *request) leave(ctx context.Context) error {
	if r.waits(ctx) {
		return nil
	}
	if gone, err := r.drop(); gone || err != nil {
		r.of.Queues.Wake(r.session)
		return err
	}
	return r.turn(ctx, func(s State) State { return leave(s, false, r.of.Chat.Now()) })
}

// drop forgets a request of which nobody has seen anything.
func (r *request) drop() (gone bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.get()
	if !ok || s.Stage != StageOpen || s.AllShown {
		return false, nil
	}
	if gone, err = r.of.cards.Withdraw(r.id); gone {
		err = r.of.Store.Remove(r.id)
	}
	if gone = gone && err == nil; gone {
		r.remove()
	}
	return gone, err
}

func (r *request) waits(ctx context.Context) bool {
	same := func(q Request) bool { return q.ID == r.id }
	return slices.ContainsFunc(r.of.Hooks.Waiting(ctx, r.session), same)
}

// settle gives a decision to the hook that waits for it, and takes in what the transcript says by
// now. It says whether there is more to come.
func (r *request) settle(ctx context.Context) (open bool) {
	s, open := r.get()
	if !open || ctx.Err() != nil {
		return false
	}
	if s.Stage == StageSent {
		r.note(r.deliver(ctx, s))
	}
	ended := func() bool {
		session, ok := r.of.Chat.Book.Records.Get(r.session)
		return r.ended.Load() || !ok || !session.Live || session.Agent != s.Request.Agent
	}
	o, found, err := r.of.Records.Outcome(ctx, s.Request)
	if found && isHalf(o) && !ended() && pause.For(ctx, halfTime) == nil {
		o, found, err = r.of.Records.Outcome(ctx, s.Request)
	}
	if ctx.Err() != nil {
		return false // it may not have read to the end; the next start does
	}
	if err != nil {
		r.of.Chat.Log.Warn("outcome_unreadable", logkey.Request, r.id, logkey.Error, err)
	}
	r.note(r.turn(ctx, func(s State) State { return settle(s, o, found, ended(), r.of.Chat.Now()) }))
	return true
}

// deliver gives a decision, which is on disk, to the hook. A prompt that became its reason leaves
// the queue before that, so that it is not typed as well. Without a hook the decision stays until
// the hook redials.
func (r *request) deliver(ctx context.Context, s State) error {
	if r.giving.Load() {
		return nil
	}
	if err := r.withdraw(ctx, s); err != nil && !chat.IsGone(err) {
		return err
	}
	if !r.waits(ctx) {
		return nil // the hook has it, or comes back
	}
	switch err := r.of.Hooks.Decide(ctx, r.id, *s.Decision); {
	case refusal.Is(err, refusal.NotFound):
		return nil
	case err != nil:
		return err
	}
	r.of.Chat.Mark(ctx, s.Conversation, s.Text, chat.ReactionReceived)
	return r.turn(ctx, func(s State) State { return give(s, r.of.Chat.Now()) })
}

// withdraw takes the prompt that became a reason out of the queue. chat.IsGone: it has left.
func (r *request) withdraw(ctx context.Context, s State) error {
	if s.Prompt == "" {
		return nil
	}
	e, err := r.of.Entry(s.Prompt)
	if err != nil || e.State == inbox.Accepted { // it was never meant for a queue
		return err
	}
	return r.of.Queues.Withdraw(ctx, r.session, s.Prompt)
}
