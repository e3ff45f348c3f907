package ask

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/bot/chat"
	"ccbot/internal/guard"
)

const (
	// pace is how often a request is looked at; mostly something else tells what became of it.
	pace = 30 * time.Second
	// halfTime is how long the second line of a refusal in a transcript may take.
	halfTime = time.Second
)

// pending is what a request's goroutine has not looked at yet.
type pending struct {
	look  bool // the transcript may say more, or a decision is to be delivered
	ended bool // the agent has ended
	left  bool // the hook has gone
	all   *chat.Tap
}

// takeNews takes what there is.
func (r *request) takeNews() pending {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	n := r.news
	r.news = pending{}
	return n
}

// follower is the goroutine of a request, with what only the goroutine knows.
type follower struct {
	*request
	begun   time.Time // hooks redial soon after it
	refused time.Time // when the refusal of the tool was first seen without what may stand behind it
}

// follow looks what becomes of a request until it is over, or ctx ends. A mistake of ours in it
// ends nothing else.
func (r *request) follow(ctx context.Context) {
	var jobs errgroup.Group
	defer func() { _ = jobs.Wait() }()
	r.guarded(ctx, func() {
		f := follower{request: r, begun: r.of.Chat.Now()}
		f.run(ctx, &jobs)
	})
}

// guarded does one thing for a request; a panic in it ends the request here, and leaves it to the terminal.
func (r *request) guarded(ctx context.Context, do func()) {
	crash, crashed := errors.AsType[*guard.Panic](guard.Call(func() error { do(); return nil }))
	if !crashed {
		return
	}
	if err := guard.Call(func() error { r.crashed(ctx, crash); return nil }); err != nil {
		r.of.Hooks.Leave(r.id)
	}
}

func (f *follower) run(ctx context.Context, jobs *errgroup.Group) {
	f.note(f.turn(ctx, f.housed))
	f.settle(ctx, false)
	rounds := time.NewTicker(pace)
	defer rounds.Stop()
	for {
		if _, open := f.get(); !open {
			return
		}
		var half <-chan time.Time // nil waits for ever
		if !f.refused.IsZero() {
			half = time.After(f.refused.Add(halfTime).Sub(f.of.Chat.Now()))
		}
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
			if n := f.takeNews(); ctx.Err() == nil { // at a stop every hook leaves, to redial later
				f.hear(ctx, n, jobs)
			}
		case <-half:
			f.settle(ctx, false)
		case <-rounds.C:
			f.round(ctx)
		}
	}
}

func (f *follower) hear(ctx context.Context, n pending, jobs *errgroup.Group) {
	if n.left {
		f.note(f.leave(ctx))
	}
	if n.left || n.look {
		f.settle(ctx, n.ended)
	}
	if n.all != nil {
		jobs.Go(func() error {
			f.guarded(ctx, func() { f.showAll(ctx, *n.all) })
			return nil
		})
	}
}

// leave takes in that the request's hook has left, unless it is back by now. A request that nobody
// has seen leaves nothing behind.
func (f *follower) leave(ctx context.Context) error {
	if f.waits() {
		return nil
	}
	if gone, err := f.drop(ctx); gone || err != nil {
		f.of.Sessions.Wake(f.session)
		return err
	}
	return f.turn(ctx, func(c Card) Card {
		if f.of.Chat.Now().Sub(c.Request.Asked) >= HookWait {
			return Leave(c, WaitedOut)
		}
		return Leave(c, HookLeft)
	})
}

// drop forgets a request of which nobody has seen anything.
func (f *follower) drop(ctx context.Context) (gone bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.get()
	shown, _ := f.of.cards.Get(f.id)
	if !ok || c.State != StateOpen || shown.Sent || c.AllShown {
		return false, nil
	}
	look := f.of.look(Leave(c, HookLeft)) // it may be on its way
	if err := errors.Join(f.of.cards.Close(ctx, f.id, look.Text), f.of.Store.Remove(f.id)); err != nil {
		return false, err
	}
	f.remove()
	return true, nil
}

// round is done now and then, whatever there was news of.
func (f *follower) round(ctx context.Context) {
	f.settle(ctx, false)
	f.note(f.turn(ctx, f.heed))
	if c, open := f.get(); open && f.isLost(ctx, c) {
		f.note(f.turn(ctx, Lose))
	}
}

// isLost says whether the request's hook has not come back, although its time is over. Of a
// decision that the hook may have taken the terminal tells: its dialog still stands.
func (f *follower) isLost(ctx context.Context, c Card) bool {
	since := f.begun
	switch {
	case c.State == StateSent && c.DecidedAt.After(since):
		since = c.DecidedAt
	case c.State != StateOpen && c.State != StateSent:
		return false
	}
	if f.of.Chat.Now().Sub(since) < pace || f.waits() {
		return false
	}
	if c.State == StateOpen {
		return true
	}
	if !c.Given.IsZero() && !c.Given.Before(f.begun) {
		return false // what it allowed may run for long before the transcript says so
	}
	d, err := f.of.Sessions.Dialog(ctx, c.Request.Session)
	return err == nil && d.Open
}

func (r *request) waits() bool {
	return slices.ContainsFunc(r.of.Hooks.Waiting(r.session), func(q Request) bool { return q.ID == r.id })
}

// settle gives a decision to a hook that has come back for it, and takes in what the transcript
// says by now.
func (f *follower) settle(ctx context.Context, ended bool) {
	c, open := f.get()
	if !open {
		return
	}
	if c.State == StateSent {
		f.note(f.deliver(ctx, c))
	}
	o, known, err := f.of.Records.Outcome(ctx, c.Request)
	if ctx.Err() != nil {
		return // it may not have read to the end; the next start does
	}
	if err != nil {
		f.of.Chat.Log.Warn("outcome_unreadable", "request", f.id, "error", err.Error())
	}
	ended = ended || f.hasEnded(c)
	now := f.of.Chat.Now()
	if known && !ended && isHalf(o) {
		if f.refused.IsZero() {
			f.refused = now
		}
		if now.Sub(f.refused) < halfTime {
			return
		}
	}
	f.refused = time.Time{}
	f.note(f.turn(ctx, func(c Card) Card { return Settle(c, o, known, ended, f.of.Chat.Now()) }))
}

// hasEnded says whether the agent that asked is not the session's any more.
func (f *follower) hasEnded(c Card) bool {
	s, ok := f.of.Chat.Book.Records.Get(f.session)
	return !ok || !s.Live || s.Agent != c.Request.Agent
}

// deliver gives a decision to the hook. A prompt that became its reason leaves the queue before
// that, so that it is not typed as well. Without a hook the decision stays until the hook redials.
func (f *follower) deliver(ctx context.Context, c Card) error {
	f.mu.Lock()
	giving := f.giving
	f.mu.Unlock()
	if giving {
		return nil // who tapped does it
	}
	if err := f.withdraw(ctx, c); err != nil && !chat.IsGone(err) || !f.waits() {
		return err // without one the hook has it, or comes back
	}
	return f.give(ctx, c)
}

// withdraw takes the prompt that became a reason out of the queue.
func (r *request) withdraw(ctx context.Context, c Card) error {
	if c.Prompt == "" {
		return nil
	}
	return r.of.Prompts.Withdraw(ctx, r.session, c.Prompt)
}

// give gives the decision, which is on disk, to the hook that waits for it, and says in the chat
// which of both it is: sent, or noted until the hook redials.
func (r *request) give(ctx context.Context, c Card) error {
	err := r.of.Hooks.Decide(r.id, *c.Decision)
	r.mu.Lock()
	defer r.mu.Unlock()
	now, open := r.get()
	switch {
	case !open:
		return nil // the transcript was quicker
	case err != nil:
		r.showLocked(ctx, now)
		if isNotWaiting(err) {
			err = nil
		}
		return err
	}
	next := Give(now, r.of.Chat.Now())
	if next.Text != 0 {
		r.of.Chat.Mark(ctx, next.Conversation, next.Text, chat.ReactionReceived)
	}
	_, err = r.becomeLocked(ctx, now, next)
	return err
}
