package bot

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/ask"
	"ccbot/bot/inbox"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

const (
	// askPace is how often requests are looked at of which it is not known what
	// became of them; mostly something else tells.
	askPace = 30 * time.Second
	// askHalf is how long the second half of what a transcript tells may take.
	askHalf = time.Second
	// askRedraw is how many messages that are over are drawn again at a start: the
	// last edits before a crash may be lost. A tap on an older one draws it, too.
	askRedraw = 10
	// askKeep is how long a card is kept after its end: a late tap is told what
	// became of it.
	askKeep = 7 * 24 * time.Hour
)

// Run sends what is not in the chat yet, and follows what becomes of it.
func (a *asks) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.lanes.Run(ctx) })
	g.Go(func() error { return a.follow(ctx) })
	return g.Wait()
}

func (a *asks) follow(ctx context.Context) error {
	a.begin(ctx)
	for {
		var tick <-chan time.Time // nil waits for ever
		pace := askPace
		if len(a.halves) > 0 {
			pace = askHalf
		}
		timer := time.NewTimer(pace)
		if len(a.unsettled()) > 0 {
			tick = timer.C
		}
		select {
		case <-ctx.Done():
		case <-a.wake:
			a.catchUp(ctx)
		case <-tick:
			a.lookAtAll(ctx)
		}
		timer.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// begin takes up what an earlier run left.
func (a *asks) begin(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun = a.Now()
	if err := a.Asks.Prune(a.begun.Add(-askKeep)); err != nil {
		a.Log.Warn("asks_not_pruned", "error", err.Error())
	}
	open := a.unsettled()
	for _, c := range open {
		a.showLocked(ctx, c)
		a.lookLocked(c.Request.Session, false)
	}
	over := a.Asks.List()[len(open):]
	for _, c := range over[max(0, len(over)-askRedraw):] {
		a.showLocked(ctx, c)
	}
}

func (a *asks) unsettled() []ask.Card {
	all := a.Asks.List()
	for i, c := range all {
		if c.IsOver() {
			return all[:i] // they come last
		}
	}
	return all
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
	for _, c := range a.unsettled() {
		id := c.Request.ID
		ended, looked := due[c.Request.Session]
		if left[id] && c.State == ask.StateOpen {
			a.note(a.become(ctx, id, ask.Leave), id)
		}
		if left[id] || looked {
			a.settle(ctx, id, ended)
		}
	}
}

// lookAtAll looks at everything that is not settled, and finds the hooks that
// did not come back.
func (a *asks) lookAtAll(ctx context.Context) {
	for _, c := range a.unsettled() {
		a.settle(ctx, c.Request.ID, false)
		if now, ok := a.Asks.Get(c.Request.ID); ok && a.isLost(ctx, now) {
			a.note(a.become(ctx, now.Request.ID, lose), now.Request.ID)
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
	if a.isGiven(c.Request.ID) {
		return false // what it allowed may run for long before the transcript says so
	}
	d, err := a.Sessions.Dialog(ctx, c.Request.Session)
	return err == nil && d.Open
}

// lose is for a card whose hook has not come back. Its decision, if there is one,
// stays: the hook may come yet.
func lose(c ask.Card) ask.Card {
	if c.State == ask.StateSent {
		c.State = ask.StateAway
		return c
	}
	return ask.Leave(c)
}

// found is for a card whose hook is back.
func found(c ask.Card) ask.Card {
	c = ask.Return(c)
	if c.State == ask.StateOpen && c.Decision != nil {
		c.State = ask.StateSent
	}
	return c
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
		return
	}
	if c.State == ask.StateSent {
		a.note(a.deliver(ctx, c), id)
	}
	o, known, err := a.outcome(c)
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

func (a *asks) outcome(c ask.Card) (o transcript.Outcome, found bool, err error) {
	q := c.Request
	if q.Transcript == "" {
		return o, false, nil
	}
	o, found, err = transcript.FindOutcome(transcript.Sought{Path: q.Transcript, Subagent: q.SubagentID, From: q.Offset,
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
	_ = a.give(c) // nobody waits: the hook has it, or comes back
	return nil
}

// give gives a decision to the hook that waits for it.
func (a *asks) give(c ask.Card) error {
	if err := a.Relay.Decide(c.Request.ID, *c.Decision); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given[c.Request.ID] = true
	return nil
}

func (a *asks) isGiven(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.given[id]
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

func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, inbox.ErrNoEntry) || errors.Is(err, session.ErrNotFound)
}

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
