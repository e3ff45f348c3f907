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
	"ccbot/port"
	"ccbot/port/refusal"
)

const (
	// pace is the interval of a request's checks, and a hook's time to redial after a start.
	pace = 30 * time.Second
	// faultInterval is the pause after a fault of the machine.
	faultInterval = 5 * time.Second
	// confirmInterval is the first pause before a check of the transcript after a hook accepted the
	// decision. It doubles up to pace: the transcript's reader reports a result after earlier
	// texts, which is late in a busy group.
	confirmInterval = time.Second
	// halfTime is the wait for the second line of a refusal in a transcript.
	halfTime = time.Second
	// reasonTime is the longest wait of a new request for the text that explains it: Claude Code writes
	// that text to its transcript together with the tool's call, shortly after the hook has asked.
	reasonTime = 400 * time.Millisecond
)

// request is one request that is not over.
type request struct {
	of      *Requests
	id      string
	session uuid.UUID
	tool    string

	wake    chan struct{} // there is news for its goroutine:
	left    atomic.Bool   // its hook has gone
	loose   atomic.Bool   // its hook must leave
	ended   atomic.Bool   // its agent has ended
	giving  atomic.Bool   // a text that decides it leaves its queue
	reading atomic.Bool   // the whole request is being shown
	queued  atomic.Bool   // its message waits for its turn
	failed  atomic.Bool   // a fault of the machine has stopped something

	dials atomic.Int32 // of its hook since the first

	late bool // its hook may have gone before the chat had the request

	called chan struct{} // closed when the transcript's reader has passed the request's call
	once   sync.Once     // closes called
	passed atomic.Bool   // the reader has passed a call of its tool since the last look

	fate    chan struct{} // closed when its message has come into the chat, or will not come
	decided func()        // closes fate
	sent    atomic.Bool   // the message has come

	mu   sync.Mutex // held during a change, its card included; not during a wait for the chat
	held bool       // its card is not shown yet
	due  bool       // its card may be outdated
	away bool       // its card reports that the machine does not answer
}

// startLocked runs do in a goroutine while Run runs. A panic leaves the request to the terminal.
func (r *request) startLocked(do func(ctx context.Context)) {
	if r.of.group == nil {
		return
	}
	r.of.group.Add(func(ctx context.Context) {
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
		r.note(a.Chat.Post(ctx, card.Content{To: s.Conversation, Session: r.session, Text: render.Plain(text)}))
	}
	now := a.Chat.Now() // it is unknown whether a hook has its decision
	r.note(r.turn(ctx, func(s State) State { return GiveWay(give(s, now), now) }))
}

func (r *request) note(err error) {
	if sysfault.Of(err) != "" {
		r.failed.Store(true)
	}
	r.of.note(r.id, err)
}

// get returns the request's state; false if it has ended or is forgotten.
func (r *request) get() (State, bool) {
	if now, open := r.of.find(r.id); !open || now != r {
		return State{}, false
	}
	s, ok := r.of.Store.Get(r.id)
	return s, ok && !s.HasEnded()
}

// turn changes a request that is not over.
func (r *request) turn(ctx context.Context, change func(State) State) error {
	old, next, err := r.change(ctx, func(s State) (State, error) { return change(s), nil })
	if errors.Is(err, errEnded) {
		return nil
	}
	r.free(ctx, old, next)
	return err
}

// change saves a request's next state, then shows it. A decision is shown once it is known whether
// a hook accepts it. It returns errEnded if the request has ended.
func (r *request) change(ctx context.Context, turn func(State) (State, error)) (old, next State, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, open := r.get()
	if !open {
		return old, old, errEnded
	}
	if next, err = turn(old); err != nil {
		r.showLocked(ctx, old) // as it is now
		return old, old, err
	}
	if next.HasEnded() {
		if err := r.reportUnread(ctx, next); err != nil {
			return old, old, err
		}
	}
	changed := !reflect.DeepEqual(old, next)
	if changed {
		if err := r.of.Store.Save(next); err != nil {
			return old, old, err
		}
	}
	if next.HasEnded() {
		r.remove()
		r.of.OnEnd(ctx)
	}
	switch {
	case next.Stage == StageSent && old.Stage != StageSent:
		r.due = true
	case changed || r.due || r.away != (awayMachine(r.of.Chat, r.session) != nil):
		r.showLocked(ctx, next)
	}
	return old, next, nil
}

// free releases the hook of a request that is no longer decided here.
func (r *request) free(ctx context.Context, old, next State) {
	if old.Stage != next.Stage && (next.Stage == StageAway || next.HasEnded()) {
		r.letGo(ctx)
	}
}

func (r *request) letGo(ctx context.Context) {
	if err := r.of.Hooks.Leave(ctx, r.session, r.id); err != nil {
		r.note(err)
		r.loose.Store(true) // the next round tries again
	}
}

// reportUnread reports that a text given as a reason was not used, or possibly not: it has left the
// queue, so no other message reports it.
func (r *request) reportUnread(ctx context.Context, s State) error {
	if s.Prompt == "" || s.Answer == nil || s.Outcome.Chat {
		return nil
	}
	key := i18n.AskTextLost
	broken := s.Outcome.What == Unknown || s.Outcome.What == Interrupted
	if broken && !s.Given.IsZero() {
		key = i18n.AskTextUnsure // a hook has it
	}
	text := r.of.Chat.In(s.textIn()).Text(key, i18n.Args{"Name": r.of.NameOf(s)})
	return r.of.Chat.Fail(ctx, s.textIn(), s.Text, text, nil)
}

// follow watches a request until it has ended, or ctx ends.
func (r *request) follow(ctx context.Context) {
	r.awaitReason(ctx)
	dials := r.dials.Load()
	left := ctx.Err() == nil && r.left.Swap(false)
	var kept error
	if left || r.late {
		kept = r.leave(ctx)
		r.note(kept)
	}
	r.begin(ctx, func() bool { return left && kept != nil && r.dials.Load() == dials })
	r.note(r.turn(ctx, r.relocated))
	rounds := time.NewTicker(pace)
	defer rounds.Stop()
	var again, confirm <-chan time.Time
	unconfirmed := pause.Backoff{Min: confirmInterval, Max: pace}
	for r.settle(ctx) {
		if s, open := r.get(); open && r.of.isMisplaced(s) { // since a change of the lists, or of the group
			r.note(r.turn(ctx, r.relocated))
		}
		if r.loose.Swap(false) {
			r.letGo(ctx)
		}
		if r.passed.Swap(false) {
			r.note(r.keepLast(ctx))
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

// pass notes that the transcript's reader has passed a call of the request's tool.
func (r *request) pass() {
	r.once.Do(func() { close(r.called) })
	r.passed.Store(true)
	pause.Poke(r.wake)
}

// awaitReason lets the text before the request's call come first.
func (r *request) awaitReason(ctx context.Context) {
	r.mu.Lock()
	held := r.held
	r.mu.Unlock()
	if held {
		select {
		case <-r.called:
		case <-ctx.Done():
		case <-time.After(reasonTime):
		}
	}
}

// begin lets the card be shown. The texts that wait for the session's agent are listed above it. A
// request without a hook that the disk still has is shown when its hook redials.
func (r *request) begin(ctx context.Context, isGone func() bool) {
	s, open := r.get()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.held || ctx.Err() != nil {
		return
	}
	gone := isGone()
	if r.held, r.due = false, !gone; open && !gone {
		r.note(r.of.Opened(ctx, s.Conversation, r.session))
	}
}

// keepLast brings the card below a text that was written before the request's call, and that the
// chat got after the card: the text or its send took longer than reasonTime, or the session was not
// the current one, and is read again now that it is. The chat shows no text of a subagent.
func (r *request) keepLast(ctx context.Context) error {
	s, open := r.get()
	shown, ok := r.of.cards.Get(r.id)
	if !open || s.Stage != StageOpen || s.Request.SubagentID != "" || !ok || shown.Message == 0 || r.of.Chat.Book.LastOf(s.Conversation, r.session) <= shown.Message {
		return nil
	}
	below := render.Plain(r.of.Chat.In(s.Conversation).Say(i18n.QuestionBelow))
	_, err := r.of.cards.Again(ctx, r.id, card.Bring{Note: below, Alone: true})
	return err
}

// round checks for changes that do not wake the request.
func (r *request) round(ctx context.Context) {
	r.note(r.turn(ctx, r.heed))
	r.note(r.leave(ctx))
	r.note(r.endDelivery(ctx))
}

// endDelivery withdraws an undelivered decision once the chat shows the terminal's dialog.
func (r *request) endDelivery(ctx context.Context) error {
	if !r.of.Dialogs.IsShown(r.session) {
		return nil
	}
	if waits, err := r.waits(ctx); waits || err != nil {
		return err
	}
	return r.turn(ctx, func(s State) State { return undeliver(s, r.of.Chat.Now()) })
}

// leave notes that the request's hook has left, unless it waits, or dials again in the meantime. An
// unseen request is dropped.
func (r *request) leave(ctx context.Context) error {
	dials := r.dials.Load()
	if waits, err := r.waits(ctx); waits || err != nil {
		return err // unknown is not gone
	}
	if gone, err := r.drop(dials); gone || err != nil {
		return err
	}
	return r.turn(ctx, func(s State) State {
		if r.dials.Load() != dials {
			return s
		}
		return leave(s, false, r.of.Chat.Now())
	})
}

// drop forgets a request that no person has seen, unless its hook has dialled again.
func (r *request) drop(dials int32) (gone bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.get()
	if !ok || s.Stage != StageOpen || s.AllShown || r.dials.Load() != dials {
		return false, nil
	}
	if gone, err = r.of.withdraw(r.id); gone {
		err = r.of.Store.Remove(r.id)
	}
	if gone = gone && err == nil; gone {
		r.remove()
	}
	return gone, err
}

func (r *request) waits(ctx context.Context) (bool, error) {
	all, err := r.of.Hooks.Waiting(ctx, r.session)
	return slices.ContainsFunc(all, func(q Request) bool { return q.ID == r.id }), err
}

// settle delivers the decision, and applies the outcome. It returns false when no more will come.
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
		return r.ended.Load() || !ok || !session.State.Live() || session.State != port.StateUnknown && session.Agent != s.Request.Agent
	}
	o, found, err := r.of.Hooks.Outcome(ctx, s.Request, s.Answer)
	if found && o.Half && !ended() && pause.For(ctx, halfTime) == nil {
		o, found, err = r.of.Hooks.Outcome(ctx, s.Request, s.Answer)
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

// deliver sends a stored decision to the hook. A prompt that became its reason first leaves the
// queue, so that it is not also typed. Without a hook the decision waits until the hook redials.
func (r *request) deliver(ctx context.Context, s State) error {
	if r.giving.Load() {
		return nil
	}
	if err := r.withdraw(ctx, s); err != nil && !chat.IsGone(err) {
		return err
	}
	if waits, err := r.waits(ctx); !waits || err != nil {
		return err // without an error the hook has it, or comes back
	}
	switch err := r.of.Hooks.Decide(ctx, r.session, r.id, *s.Answer); {
	case refusal.Is(err, refusal.NotFound):
		return nil
	case refusal.Is(err, refusal.Changed): // it is not made for what the person did not see
		return r.turn(ctx, func(s State) State { return undeliver(s, r.of.Chat.Now()) })
	case err != nil:
		return err
	}
	r.of.Chat.React(ctx, s.textIn(), s.Text, chat.ReactionReceived)
	return r.turn(ctx, func(s State) State { return give(s, r.of.Chat.Now()) })
}

// withdraw removes the prompt that became a reason from the queue, if it is still there.
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
