package bot

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/hooks"
	"ccbot/internal/transcript"
)

const (
	// askPace is how often requests are looked at of which it is not known what
	// became of them; mostly something else tells.
	askPace = 30 * time.Second
	// askHalf is how long the second half of what a transcript tells may take.
	askHalf = time.Second
	// askRedraw is how many messages that are over are drawn again at a start, and
	// askRecent how long those are over at most: the last edits before a crash may
	// be lost. A tap on an older one draws it, too.
	askRedraw = 10
	askRecent = 10 * time.Minute
	// askKeep is how long a card is kept after its end: a late tap is told what
	// became of it.
	askKeep  = 7 * 24 * time.Hour
	askPrune = 24 * time.Hour // how often that is looked at
)

// Run sends what is not in the chat yet, and follows what becomes of it.
func (a *asks) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.lanes.Run(ctx) })
	g.Go(func() error { return a.parts.Run(ctx) })
	g.Go(func() error { return a.follow(ctx) })
	return g.Wait()
}

func (a *asks) follow(ctx context.Context) error {
	a.begin(ctx)
	// Neither clock starts again at a wake: there may always be news of some session.
	rounds := time.NewTicker(askPace)
	defer rounds.Stop()
	var half <-chan time.Time // nil waits for ever
	for ctx.Err() == nil {
		if half == nil && len(a.halves) > 0 {
			half = time.After(askHalf)
		}
		select {
		case <-ctx.Done():
		case <-a.wake:
			a.catchUp(ctx)
		case <-half:
			half = nil
			for id := range a.halves {
				a.settle(ctx, id, false)
			}
		case <-rounds.C:
			a.lookAtAll(ctx)
			a.prune()
		}
	}
	return nil
}

// prune forgets old cards, once a day.
func (a *asks) prune() {
	now := a.Now()
	if now.Sub(a.pruned) < askPrune {
		return
	}
	a.pruned = now
	if err := a.Asks.Prune(now.Add(-askKeep)); err != nil {
		a.Log.Warn("asks_not_pruned", "error", err.Error())
	}
}

// begin takes up what an earlier run left.
func (a *asks) begin(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun = a.Now()
	a.prune()
	open := a.Asks.Unsettled()
	for _, c := range open {
		next := a.rehomed(c)
		a.note(a.becomeLocked(ctx, c, next), c.Request.ID)
		if next.Message != 0 { // else it is on its way
			a.showLocked(ctx, next)
		}
		a.sendNotice(c)
		a.lookLocked(c.Request.Session, false)
	}
	over := slices.DeleteFunc(a.Asks.List()[len(open):], func(c ask.Card) bool { return a.begun.Sub(c.Over) >= askRecent })
	for _, c := range over[max(0, len(over)-askRedraw):] {
		a.lanes.add(c.Conversation, func(ctx context.Context) { a.redraw(ctx, c.Request.ID) })
	}
}

// redraw brings a message up to date, after those that people wait for.
func (a *asks) redraw(ctx context.Context, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok := a.Asks.Get(id); ok {
		a.showLocked(ctx, c)
	}
}

// catchUp looks at what there was news of.
func (a *asks) catchUp(ctx context.Context) {
	a.mu.Lock()
	due, left := a.due, a.left
	a.due, a.left = make(map[uuid.UUID]bool), make(map[string]bool)
	a.mu.Unlock()
	if ctx.Err() != nil {
		return // at a stop every hook leaves, to redial later
	}
	for _, c := range a.Asks.Unsettled() {
		id := c.Request.ID
		ended, looked := due[c.Request.Session]
		if left[id] && c.State == ask.StateOpen {
			a.note(a.leave(ctx, id), id)
		}
		if left[id] || looked {
			a.settle(ctx, id, ended)
		}
	}
}

// leave takes in that a request's hook has left, unless it is back by now. A
// request that nobody has seen leaves nothing behind.
func (a *asks) leave(ctx context.Context, id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.Asks.Get(id)
	if !ok || c.State != ask.StateOpen || a.waits(c) {
		return nil
	}
	if c = a.found(c); c.Message == 0 && !a.flying[id] && !c.AllShown {
		a.Sessions.Wake(c.Request.Session)
		return a.Asks.Remove(id)
	}
	why := ask.HookLeft
	if a.Now().Sub(c.Request.Asked) >= ask.HookWait {
		why = ask.WaitedOut
	}
	return a.becomeLocked(ctx, c, ask.Leave(c, why))
}

// lookAtAll looks at everything that is not settled, and finds the hooks that
// did not come back.
func (a *asks) lookAtAll(ctx context.Context) {
	for _, c := range a.Asks.Unsettled() {
		id := c.Request.ID
		a.settle(ctx, id, false)
		a.note(a.become(ctx, id, a.heed), id)
		if now, ok := a.Asks.Get(id); ok && a.isLost(ctx, now) {
			a.note(a.become(ctx, id, ask.Lose), id)
		}
	}
}

// isLost says whether a request's hook has not come back, although its time is
// over. Of a decision that it may have taken the terminal tells: its dialog
// still stands.
func (a *asks) isLost(ctx context.Context, c ask.Card) bool {
	since := a.begun
	switch {
	case c.State == ask.StateSent && c.DecidedAt.After(since):
		since = c.DecidedAt
	case c.State != ask.StateOpen && c.State != ask.StateSent:
		return false
	}
	if a.Now().Sub(since) < askPace || a.waits(c) {
		return false
	}
	if c.State == ask.StateOpen {
		return true
	}
	if !c.Given.IsZero() && !c.Given.Before(a.begun) {
		return false // what it allowed may run for long before the transcript says so
	}
	d, err := a.Sessions.Dialog(ctx, c.Request.Session)
	return err == nil && d.Open
}

func (a *asks) waits(c ask.Card) bool {
	for _, q := range a.Relay.Waiting(c.Request.Session) {
		if q.ID == c.Request.ID {
			return true
		}
	}
	return false
}

// settle gives a decision to a hook that has come back for it, and takes in what
// the transcript says by now.
func (a *asks) settle(ctx context.Context, id string, ended bool) {
	c, ok := a.Asks.Get(id)
	if !ok || c.IsOver() {
		delete(a.halves, id)
		return
	}
	if c.State == ask.StateSent {
		a.note(a.deliver(ctx, c), id)
	}
	o, known, err := a.outcome(ctx, c)
	if ctx.Err() != nil {
		return // it may not have read to the end; the next start does
	}
	if err != nil {
		a.Log.Warn("outcome_unreadable", "request", id, "error", err.Error())
	}
	ended = ended || a.hasEnded(c)
	if known && !ended && a.isHalf(id, o) {
		return
	}
	delete(a.halves, id)
	a.note(a.become(ctx, id, func(c ask.Card) ask.Card { return ask.Settle(c, o, known, ended, a.Now()) }), id)
}

// isHalf says whether the next line of the transcript may yet say that the person
// interrupted the agent: the refusal of the tool, which an Esc brings as well,
// stands before it.
func (a *asks) isHalf(id string, o transcript.Outcome) bool {
	if o.Denial != "user-rejected" || o.Interrupted || o.ByHook != "" {
		return false
	}
	since, ok := a.halves[id]
	if !ok {
		since = a.Now()
		a.halves[id] = since
	}
	return a.Now().Sub(since) < askHalf
}

func (a *asks) outcome(ctx context.Context, c ask.Card) (o transcript.Outcome, found bool, err error) {
	q := c.Request
	if q.Transcript == "" {
		return o, false, nil
	}
	o, found, err = transcript.FindOutcome(ctx, transcript.Sought{Path: q.Transcript, Subagent: q.SubagentID, From: q.Offset,
		Tool: q.Tool, Input: q.Input, At: q.Asked})
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	return o, found, err
}

// hasEnded says whether the agent that asked is not the session's any more.
func (a *asks) hasEnded(c ask.Card) bool {
	r, ok := a.Records.Get(c.Request.Session)
	return !ok || !r.State.Live() || r.Binding == nil || r.Binding.Agent != c.Request.Agent
}

// deliver gives a decision to the hook. A prompt that became its reason leaves
// the queue before that, so that it is not typed as well. Without a hook the
// decision stays on the card until it redials.
func (a *asks) deliver(ctx context.Context, c ask.Card) error {
	if a.isBusy(c.Request.ID) || c.Decision == nil {
		return nil // who tapped does it
	}
	if err := a.withdraw(ctx, c); err != nil && !isGone(err) {
		return err
	}
	if !a.waits(c) {
		return nil // the hook has it, or comes back
	}
	_, err := a.give(ctx, c)
	return err
}

// give gives a decision to the hook that waits for it, and says in the chat which
// of both it is: sent, or noted until the hook redials. It gives the card back as
// it is then.
func (a *asks) give(ctx context.Context, c ask.Card) (ask.Card, error) {
	id := c.Request.ID
	err := a.Relay.Decide(id, *c.Decision)
	a.mu.Lock()
	defer a.mu.Unlock()
	now, ok := a.Asks.Get(id)
	switch {
	case err != nil && !errors.Is(err, hooks.ErrNotWaiting):
		a.showLocked(ctx, c)
		return c, err
	case !ok || now.IsOver():
		return c, nil // the transcript was quicker
	case err != nil:
		a.showLocked(ctx, now)
		return now, nil
	}
	next := ask.Give(now, a.Now())
	if next.Text != 0 {
		a.Sender.React(ctx, next.Conversation, next.Text, chat.ReactionReceived)
	}
	return next, a.becomeLocked(ctx, now, next)
}

// withdraw takes the prompt that became a reason out of the queue. isGone of the
// error: it is not there.
func (a *asks) withdraw(ctx context.Context, c ask.Card) error {
	if c.Prompt == "" {
		return nil
	}
	e, err := a.Entries.Load(c.Prompt)
	if err != nil {
		return err
	}
	if e.State == inbox.Accepted {
		return nil // a text that was meant for the card from the start
	}
	return a.Sessions.Withdraw(ctx, c.Request.Session, c.Prompt)
}

func isGone(err error) bool { return chat.IsGone(err) }

func (a *asks) isBusy(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.busy[id]
}

// note logs what could not be done now; the next look does it.
func (a *asks) note(err error, id string) {
	if err != nil {
		a.Log.Error("ask_not_settled", "request", id, "error", err.Error())
	}
}
