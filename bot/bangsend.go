package bot

import (
	"context"
	"errors"
	"time"

	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/lifecycle"
)

// cardGrace is how long a message whose command is over may take to be in the chat.
// After it a message that waits to be sent is given up.
const cardGrace = 2 * time.Second

// sending is a message on its way into the chat.
type sending struct {
	giveUp context.CancelFunc
	done   chan struct{} // closed when it is known what became of it
}

// draw shows what a command has printed so far, and says whether that is new.
func (b *bangs) draw(ctx context.Context, g *growth, now lifecycle.Output) (fresh bool) {
	m, fresh := b.grow(g, now)
	if !fresh {
		return false
	}
	err := b.put(ctx, g, m)
	if err == nil {
		return true
	}
	b.Log.Debug("output_not_shown", "error", err.Error())
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	b.forgetLocked(g)
	return false
}

// grow is the message with what is seen now; fresh says whether the chat has it
// otherwise.
func (b *bangs) grow(g *growth, now lifecycle.Output) (m outbox.Message, fresh bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rows = joinRows(g.rows, now.Lines, now.Above)
	text := outputText(g.of.Command, g.rows, b.words.Say(i18n.OutputRuns))
	m = outbox.Message{To: g.to, Text: text, ReplyTo: g.under, Silent: true, Session: g.of.Session, Rank: outbox.Card}
	return m, !g.over && !sameText(text, g.shown)
}

// put changes the message, or brings it into the chat.
func (b *bangs) put(ctx context.Context, g *growth, m outbox.Message) error {
	g.mu.Lock()
	switch {
	case g.over:
		g.mu.Unlock()
		return nil
	case g.message != 0:
		defer g.mu.Unlock()
		g.shown = m.Text
		return b.Sender.Edit(ctx, g.to, g.message, m) // which does not wait
	}
	sent, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s := &sending{giveUp: cancel, done: make(chan struct{})}
	g.sending = s
	g.mu.Unlock()
	defer close(s.done)
	return b.send(sent, g, m)
}

// send brings the message into the chat. It is on disk then, so that a later run
// finds it; a crash in between leaves it as it is. So does a call that was given up
// half way: the output is sent.
func (b *bangs) send(ctx context.Context, g *growth, m outbox.Message) error {
	id, err := b.Sender.Send(ctx, m)
	if err == nil && id == 0 {
		err = errors.New("its id is not known")
	}
	if err == nil {
		b.At("output-sent")
		o := g.of
		o.Message = id
		err = b.keep(g.to, o)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sending = nil
	if err != nil {
		return err
	}
	g.message, g.shown = id, m.Text
	if g.over && !g.ended {
		b.tellStoppedLocked(context.WithoutCancel(ctx), g)
	}
	return nil
}

// forgetLocked lets the output come as an answer of its own: the message is gone.
func (b *bangs) forgetLocked(g *growth) {
	b.remove(g)
	if g.message == 0 {
		return
	}
	if err := b.Chats.ChangeOutput(g.to, g.message, func(*conversation.Output) bool { return false }); err != nil {
		b.Log.Warn("output_not_noted", "error", err.Error())
	}
	g.message = 0
}

// stop ends a message whose command was stopped by that time: Claude Code keeps
// nothing of it. If its output comes all the same, it takes this text's place. It
// waits for nothing: people do who have sent /stop.
func (b *bangs) stop(ctx context.Context, g *growth, by time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return
	}
	g.over, g.stopped = true, by
	if g.sending != nil { // who sends it tells
		time.AfterFunc(cardGrace, g.sending.giveUp)
		return
	}
	if g.message != 0 {
		b.tellStoppedLocked(ctx, g)
	}
	b.remove(g)
}

func (b *bangs) tellStoppedLocked(ctx context.Context, g *growth) {
	text := outputText(g.of.Command, g.rows, b.words.Say(i18n.OutputStopped))
	if err := b.Sender.Edit(ctx, g.to, g.message, outbox.Message{To: g.to, Text: text}); err != nil {
		b.Log.Debug("edit_failed", "error", err.Error())
	}
	err := b.Chats.ChangeOutput(g.to, g.message, func(o *conversation.Output) bool { o.Over, o.OverAt = true, g.stopped; return true })
	if err != nil {
		b.Log.Warn("output_not_noted", "error", err.Error())
	}
}

// end is called for the output of a command: from then on nobody else changes the
// message, which is waited for if it is about to be there. 0: there is none.
func (g *growth) end() (message int) {
	g.mu.Lock()
	g.over, g.ended = true, true
	s := g.sending
	g.mu.Unlock()
	if s != nil {
		late := time.AfterFunc(cardGrace, s.giveUp)
		<-s.done
		late.Stop()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.message
}

// forget lets the output come as an answer of its own.
func (b *bangs) forget(g *growth) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b.forgetLocked(g)
}
