package bot

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

const (
	// outputFirst is how long a command of bash mode may take before it is worth a
	// message of its own.
	outputFirst = time.Second
	// outputPace is the time between two looks at what it has printed since.
	outputPace = 2 * time.Second
	// quietLooks is how many of those in a row may tell nothing new: from then on
	// there is one only every quietPace.
	quietLooks = 15
	quietPace  = 30 * time.Second
	// idleLooks is how often the agent is seen to be idle before a command counts as
	// stopped: the end of one that was not stands in the transcript by then.
	idleLooks = 4
)

// bangs shows what commands of bash mode print while they run, each in one message
// that ends as the output which the transcript has. Until then it is a card: what
// the terminal shows can be lost, and what the transcript has cannot (P5).
type bangs struct {
	*Bot
	wake        chan struct{}
	first, pace time.Duration

	mu     sync.Mutex
	all    []*growth                                       // that have not come to their end, oldest first
	fresh  []*growth                                       // those of them that nobody follows yet
	places map[uuid.UUID]map[session.Conversation]struct{} // where sessions have messages; nil: not read yet
}

// growth is one such message. Its lock is not held while a message is sent: a chat
// may take none for hours.
type growth struct {
	to    session.Conversation
	under int                 // the person's message
	of    conversation.Output // as it was when this run heard of it

	mu      sync.Mutex
	message int // 0: there is none
	rows    []string
	shown   render.Text // what the chat has, as far as this run knows
	over    bool        // it is not drawn any more
	stopped time.Time   // when its command had been
	ended   bool        // it has the output, or is about to
	sending *sending    // nil: it is not being sent
}

func newBangs(b *Bot) *bangs {
	return &bangs{Bot: b, wake: make(chan struct{}, 1), first: outputFirst, pace: outputPace}
}

// begun hears that the agent has a prompt.
func (b *bangs) begun(ctx context.Context, n lifecycle.Note) {
	if n.Prompt.Class != lifecycle.ClassBash {
		return
	}
	e, err := b.Entries.Load(n.Prompt.Key)
	if err != nil || !b.MayShow(e.Conversation) {
		return
	}
	o, typed := conversation.Output{Session: n.Session.ID, Prompt: n.Prompt.Key, Command: n.Prompt.Text}, b.Now()
	if m := n.Prompt.Mark; m != nil {
		o.Path, o.Offset, typed = m.Path, m.Offset, m.At
	}
	earlier := b.ofSession(o.Session)
	if !b.add(&growth{to: e.Conversation, under: e.MessageID, of: o}) {
		return
	}
	for _, g := range earlier { // a command is typed when the agent is idle
		b.stop(ctx, g, typed)
	}
}

// add lets a command be followed, once: news may come twice.
func (b *bangs) add(g *growth) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.ContainsFunc(b.all, func(k *growth) bool { return k.of.Same(g.of) }) {
		return false
	}
	b.all, b.fresh = append(b.all, g), append(b.fresh, g)
	poke(b.wake)
	return true
}

// ofSession are those of a session that have not come to their end.
func (b *bangs) ofSession(id uuid.UUID) []*growth {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.all), func(g *growth) bool { return g.of.Session != id })
}

func (b *bangs) remove(g *growth) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = slices.DeleteFunc(b.all, func(k *growth) bool { return k == g })
}

// Run follows commands until ctx ends, those first that an earlier run has left.
func (b *bangs) Run(ctx context.Context) error {
	left, err := b.Chats.Outputs()
	if err != nil {
		b.Log.Warn("chats_unreadable", "error", err.Error())
	}
	for to, outputs := range left {
		for _, o := range outputs {
			if !o.Over && o.Ended == 0 {
				b.add(&growth{to: to, of: o, message: o.Message})
			}
		}
	}
	var g errgroup.Group
	for {
		for _, one := range b.takeFresh() {
			g.Go(func() error { b.follow(ctx, one); return nil })
		}
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-b.wake:
		}
	}
}

func (b *bangs) takeFresh() []*growth {
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := b.fresh
	b.fresh = nil
	return fresh
}

// follow looks at a command until it has come to its end.
func (b *bangs) follow(ctx context.Context, g *growth) {
	defer b.remove(g)
	idle, quiet := 0, 0
	for wait := b.first; b.sleep(ctx, wait) && !g.isOver(); wait = b.waitAfter(quiet) {
		r, ok := b.Records.Get(g.of.Session)
		if r = b.Successor(r); !ok || !r.State.Live() {
			b.stop(ctx, g, b.Now())
			return
		}
		quiet++
		now := b.Sessions.Output(ctx, r, g.of.Command)
		switch {
		case now.Runs:
			idle = 0
			if b.draw(ctx, g, now) {
				quiet = 0
			}
		case !g.isShown(): // it was quick: what it has printed comes as an answer
			return
		case now.Idle:
			idle, quiet = idle+1, 0
		}
		if idle >= idleLooks {
			b.stop(ctx, g, b.Now())
			return
		}
	}
}

// waitAfter is the time until the next look, after so many that told nothing new: a
// command may print nothing for hours, and a dialog may hide it over night.
func (b *bangs) waitAfter(quiet int) time.Duration {
	if quiet >= quietLooks {
		return quietPace
	}
	return b.pace
}

func (b *bangs) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (g *growth) isOver() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.over
}

func (g *growth) isShown() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.message != 0
}

// interrupted hears that a person has stopped what a session does.
func (b *bangs) interrupted(ctx context.Context, id uuid.UUID) {
	for _, g := range b.ofSession(id) {
		r, ok := b.Records.Get(id)
		if ok && b.Sessions.Output(ctx, r, g.of.Command).Idle {
			b.stop(ctx, g, b.Now())
		}
	}
}

// Finish shows the output of a command in the message that has grown with it, and
// waits until the chat has it there. It is false where there is no such message:
// then the output is sent.
func (b *bangs) Finish(ctx context.Context, r session.Record, item transcript.Item, part render.Part) (done bool, err error) {
	g := b.grownWith(r, item)
	if g == nil {
		return false, nil
	}
	defer b.remove(g)
	message := g.end()
	if message == 0 {
		return false, nil
	}
	text := render.Join(commandText(g.of.Command), part.Text)
	err = b.Sender.EditNow(context.WithoutCancel(ctx), g.to, message, outbox.Message{To: g.to, Text: text, Rank: outbox.Now})
	if isForGood(err) {
		b.forget(g)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	b.At("output-ended")
	return true, b.Chats.ChangeOutput(g.to, message, func(o *conversation.Output) bool { o.Ended = item.At.Offset; return true })
}

// grownWith finds the message that has grown with the command whose output an item
// is, of this run or an earlier one.
func (b *bangs) grownWith(r session.Record, item transcript.Item) (found *growth) {
	command, looked := "", false
	for _, g := range b.left(r) {
		o := g.of
		if !o.Takes(item) || found != nil && o.Offset < found.of.Offset {
			continue
		}
		if !looked {
			command, looked = transcript.BashCommand(item.At), true
		}
		if o.IsCommand(command) {
			found = g
		}
	}
	return found
}
