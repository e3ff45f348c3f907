package typing

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// caller delivers prompts by calls to the agent.
type caller struct{ s *Session }

// deliver delivers one prompt: mark on disk, check again, call. The mark counts the call before it
// is made: from then on the agent may have the text, and only a person sends it again (P4). The
// proof is the agent's receipt.
func (w caller) deliver(ctx context.Context, p Prompt) error {
	p.State, p.Mark = Typing, w.s.mark()
	if err := w.s.typist.prompts.SavePrompt(p); err != nil {
		return err
	}
	w.s.turn.At("typing-marked")
	if w.s.term.Refresh(ctx); !w.s.term.TakesCall() { // something has come in between
		return w.hold(ctx, p)
	}
	if err := w.s.goTo(p); err != nil {
		return err
	}
	p.Mark.Enters++
	if err := w.s.typist.prompts.SavePrompt(p); err != nil {
		return err
	}
	within, done := context.WithTimeout(ctx, ProofWait)
	defer done()
	writer := w.s.r.Binding.Writer()
	to := agent.Recipient{PID: writer.PID, ProcStart: writer.Start, Conversation: w.s.r.AgentSessionID}
	err := w.s.term.agent().Delivery.Deliver(within, to, p.delivery(), p.Text)
	if errors.Is(err, agent.ErrNotDelivered) {
		w.s.log().Debug("prompt_not_delivered", logkey.SessionID, w.s.r.ID.String(), logkey.Key, p.Key, logkey.Error, err)
		return w.hold(ctx, p)
	}
	if err != nil {
		return err // it is unknown whether the agent has the text: the mark stays, and ccbot waits for the receipt
	}
	w.s.turn.At("entered")
	w.s.turn.Wake()
	return w.s.turn.Notify(ctx, news.Typed{Prompt: p.forNews()})
}

// hold holds a prompt again that the agent does not have.
func (w caller) hold(ctx context.Context, p Prompt) error {
	if err := w.s.stay(p); err != nil {
		return err
	}
	p.State, p.Mark = Held, nil
	w.s.Again = view.HoldPace
	if err := w.s.typist.prompts.SavePrompt(p); err != nil || w.s.term.Phase() == talk.PhaseWorking || w.s.term.Pursues || w.s.term.DialogOpen() {
		return err // the next step reports what the prompt waits for
	}
	return w.s.hold(ctx, news.HeldUnknown, &p)
}

// delivery returns the id of one delivery. It follows from what is on disk, so that it can be asked
// for after a crash, and another delivery of the prompt has another mark.
func (p *Prompt) delivery() uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(p.Key+" "+p.Mark.At.UTC().Format(time.RFC3339Nano)))
}

// decideCall determines the next act for the head prompt of an agent that takes texts by a call. If
// ccbot died before it made the call, the prompt is as good as held.
func decideCall(v view.View, p *Prompt) Decision {
	waited := v.Now.Sub(p.Since)
	switch {
	case p.State == Typing && p.Mark == nil:
		return Decision{Act: GiveUp} // a file that was edited
	case p.State == Typing && (p.Mark.Enters > 0 || p.Mark.Esc):
		return Decision{Act: Settle}
	case v.Agent == process.Gone || v.Fate == view.PaneDead:
		return Decision{Again: 2 * time.Second} // the agent is ending
	case v.TakesCall():
		return Decision{Act: Type, Again: view.Soon}
	case waited < queueNotice:
		return Decision{Again: queueNotice - max(waited, 0)}
	case v.Phase() == talk.PhaseWorking, v.Pursues && v.Phase() != talk.PhaseUnknown: // between two turns of a goal it is idle for milliseconds
		return Decision{Act: Hold, Why: news.Queued, Again: view.HoldPace}
	}
	return Decision{Act: Hold, Why: news.HeldUnknown, Again: view.HoldPace}
}

// AwaitsReceipt reports whether the agent was called with the prompt so recently that its receipt
// may still come. It comes while a dialog is open, too: the prompt's own turn may ask at once.
func (p *Prompt) AwaitsReceipt(v view.View) bool {
	return v.ByCall && p.IsEntered() && v.Now.Sub(p.Mark.At).Abs() < ProofWait
}

// decideCalled decides about a prompt that the agent may have. It is pure.
func decideCalled(v view.View, p *Prompt, hasReceipt bool) Decision {
	waited := min(v.Now.Sub(p.Mark.At), v.Now.Sub(p.Since))
	switch {
	case hasReceipt:
		return Decision{Act: Proven}
	case waited >= ProofWait && v.Phase() != talk.PhaseWorking, waited >= typedTTL:
		return Decision{Act: GiveUp}
	}
	return Decision{Again: view.Soon + min(EnterRetry, max(waited, 0)/2)}
}
