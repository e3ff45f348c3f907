package typing

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"ccbot/agent"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// typePrompt types one prompt: mark on disk, paste, check again, Enter; or it calls the agent. A
// crash at any point leaves a mark that recovery finds. Nothing is typed twice unless a person asks
// for it (P4), and Enter is pressed only if the text is visible in the box of an idle agent (P7).
// The proof comes later, from a hook or the transcript.
func (w *Session) typePrompt(ctx context.Context, p Prompt) error {
	if w.term.agent().Delivery != nil {
		return caller{w}.deliver(ctx, p)
	}
	if w.term.promptKeys() != nil { // the text could not be submitted
		w.Again = view.HoldPace
		return w.hold(ctx, news.HeldKeys, &p)
	}
	p.State, p.Mark = Typing, w.mark()
	if err := w.typist.prompts.SavePrompt(p); err != nil {
		return err
	}
	w.remember(func(m *progress) { m.pasted, m.unwanted = "", Prompt{} })
	w.turn.At("typing-marked")
	if err := w.term.paste(ctx, p.Text); err != nil {
		if !errors.Is(err, tmux.ErrGuard) && !errors.Is(err, tmux.ErrNotSent) {
			return err // it is unknown whether the text has reached the pane: the mark stays, and ccbot waits for proof
		}
		p.State, p.Mark = Held, nil
		w.Again = view.HoldPace
		w.term.Refresh(ctx) // something has come in between
		return errors.Join(w.typist.prompts.SavePrompt(p), w.hold(ctx, w.term.Obstacle(), &p))
	}
	w.remember(func(m *progress) { m.pasted = p.Key })
	w.turn.At("pasted")
	switch seen, overtaken := w.term.seePaste(ctx, p); {
	case seen:
		return w.enter(ctx, p)
	case overtaken:
		p.Mark.Retreat = true
		return w.typist.prompts.SavePrompt(p)
	}
	return nil // the text is not drawn yet: the mark stays, and Enter follows when the text appears
}

// mark returns the time and the transcript position from which proof counts.
func (w *Session) mark() *talk.Mark {
	m := &talk.Mark{At: w.now().UTC(), AgentSessionID: w.r.AgentSessionID}
	if b := w.r.Binding; b != nil {
		m.Agent = b.Agent.Text()
		m.Age, _ = b.Agent.Age(w.typist.observer.Moment())
	}
	if c, ok := w.r.Cursor(); ok {
		m.Path = c.Path
	} else { // no hook has named the transcript; without an offset all that was ever said would count as proof
		m.Path, _ = w.term.agent().Transcripts.Find(w.r.AgentSessionID)
	}
	if info, err := os.Stat(m.Path); err == nil {
		m.Offset = info.Size()
	}
	return m
}

// End returns the position of the transcript after all that the agent has written.
func (w *Session) End() talk.Cursor { return w.mark().Cursor() }

// enter submits the text that was just seen in the box. The mark counts the Enter before it is
// pressed: counting one too many is harmless.
func (w *Session) enter(ctx context.Context, p Prompt) error {
	if err := w.goTo(p); err != nil {
		return err
	}
	p.Mark.Enters++
	if err := w.typist.prompts.SavePrompt(p); err != nil {
		return err
	}
	if w.term.Refresh(ctx); !w.term.leaveVisual(ctx) || !w.term.IsBoxFree() || !p.shows(w.term.View) {
		return nil // writing to disk took time, and something came in between
	}
	err := w.term.submit(ctx)
	switch {
	case errors.Is(err, tmux.ErrGuard):
		return nil // Enter was not pressed
	case isRebound(err): // the person has just changed the key
		p.Mark.Retreat = true
		return w.typist.prompts.SavePrompt(p)
	}
	if err != nil {
		return err
	}
	w.turn.At("entered")
	w.remember(func(m *progress) { m.still = still{} }) // the effect of the Enter is not drawn yet
	return w.turn.Notify(ctx, news.Typed{Prompt: p.forNews()})
}

// goTo shows the session in the place of the turn that a prompt is about to begin: all that the agent
// says and asks from then on belongs there. What it has said before stays with its own turn.
func (w *Session) goTo(p Prompt) error {
	if p.To == (address.Conversation{}) || p.To == w.r.Conversation {
		return nil
	}
	w.r.GoOn(p.To, p.Mark.Cursor())
	return w.turn.Save()
}

// stay takes goTo back: the prompt is held again, and whatever the agent says until then is of another turn.
func (w *Session) stay(p Prompt) error {
	if p.Mark == nil || !w.r.Stay(p.To, p.Mark.Cursor()) {
		return nil
	}
	return w.turn.Save()
}

// clearOwnText takes back a paste that a dialog overtook. It removes ccbot's own text from the box,
// proves that the box is empty, and holds the prompt again. After a stop it asks the person about
// the prompt instead.
func (w *Session) clearOwnText(ctx context.Context, p Prompt) error {
	if !w.term.Screen.Box.Empty {
		if !p.shows(w.term.View) {
			return w.unproven(ctx, p, "another text is in the box")
		}
		switch emptied := w.term.emptyBox(ctx); {
		case !emptied && !w.term.IsBoxFree(): // another turn or dialog has come
			w.Again = view.HoldPace
			return nil
		case !emptied:
			return w.unproven(ctx, p, "the box cannot be emptied")
		}
	}
	if found, err := w.seek(ctx, p); found || err != nil { // a person in the terminal may have sent the text
		return err
	}
	if p.retreats() && p.Mark.Esc {
		return w.askAbout(ctx, p, false)
	}
	if err := w.stay(p); err != nil {
		return err
	}
	p.State, p.Mark = Held, nil
	w.turn.Wake()
	return w.typist.prompts.SavePrompt(p)
}

// askAbout asks the person about a prompt that a stop kept from being typed or carried out, and
// removes the prompt from the queue. The question is sent first, so that the text is never lost. If
// the text is in the box, where it would block the next prompts, it is removed there.
func (w *Session) askAbout(ctx context.Context, p Prompt, inBox bool) error {
	if err := w.stay(p); err != nil {
		return err
	}
	n := news.TakenBack{Prompt: p.forNews()}
	if !inBox && !w.term.IsIdle() {
		if n.Work = w.LastTaken().Text; n.Work == "" { // ccbot was started in the middle of the turn
			n.Work = w.term.agent().Proof.LastPrompt(ctx, w.typist.observer.TranscriptPath(*w.r))
		}
	}
	if err := w.turn.Notify(ctx, n); err != nil {
		return err
	}
	if inBox {
		w.clearUnwanted(ctx, p)
	}
	return w.dequeue(p.Key)
}

// IsAtBorder reports whether a prompt needs a person's word before it is typed: its turn would bring
// what was said in another chat before the members of a group.
func (w *Session) IsAtBorder(p Prompt) bool {
	return p.Asks && w.r.Next.ChatID != p.To.ChatID && (w.r.Turns() > 0 || w.End().Offset > 0) && address.Enters(w.r.Conversation, p.To)
}

// AskAtBorder takes a prompt out of the queue that may begin no turn in its place before a person has
// said so. The question is sent first, so that the text is never lost.
func (w *Session) AskAtBorder(ctx context.Context, p Prompt) error {
	if err := w.turn.Notify(ctx, news.TakenBack{Prompt: p.forNews(), AtBorder: true}); err != nil {
		return err
	}
	w.turn.Wake()
	return w.dequeue(p.Key)
}

// clearUnwanted removes a prompt's text from the box: the agent has put it back there, where it
// would block the next prompt.
func (w *Session) clearUnwanted(ctx context.Context, p Prompt) {
	w.remember(func(m *progress) { m.last = Prompt{} })
	w.noteUnwanted(p)
	w.term.clearBox(ctx)
}

// noteUnwanted notes that the text of p is taken out of the box if it appears there.
func (w *Session) noteUnwanted(p Prompt) {
	w.remember(func(m *progress) { m.unwanted, m.unwantedAt = p, w.now() })
}

// unwantedFor is the time during which the text of a cancelled prompt is removed from the box. A
// text that is still there afterwards is reported as a draft.
const unwantedFor = 30 * time.Second

// ClearLeft clears the box of the text of the last prompt, if the transcript shows that a hook of
// the person has refused it, and of an unwanted text that a slow terminal shows still, in part, or
// again. A person may have typed the same text since, so the latter needs a terminal in which no
// key was pressed. If ClearLeft has pressed a key, it returns when to check again, otherwise 0.
func (w *Session) ClearLeft(ctx context.Context) (again time.Duration) {
	if last := w.LastTaken(); last.Key != "" && w.term.holds(ctx, last) {
		if trace, err := w.traceOf(last); err == nil && trace.Refused {
			if w.term.Refresh(ctx); !w.term.holds(ctx, last) {
				return view.Soon
			}
			w.clearUnwanted(ctx, last)
			return w.cleared()
		}
	}
	m := w.recall()
	if w.now().Sub(m.unwantedAt) > unwantedFor || !w.bound(m.unwanted) ||
		!w.term.holds(ctx, m.unwanted) && !w.term.holdsPart(m.unwanted) ||
		!w.term.quietSince(ctx, m.unwanted.Mark.At) {
		return 0
	}
	w.term.clearBox(ctx)
	return w.cleared()
}

// cleared returns when to check again whether the box is empty.
func (w *Session) cleared() time.Duration {
	if w.term.Screen.Box.Empty {
		return view.Soon
	}
	return view.HoldPace
}

// LastTaken returns the prompt that the present agent has taken last. A Prompt without a key means
// that this is unknown.
func (w *Session) LastTaken() Prompt {
	if p := w.recall().last; w.bound(p) {
		return p
	}
	return Prompt{}
}

// bound reports whether a prompt was typed to the present agent.
func (w *Session) bound(p Prompt) bool {
	return p.Mark != nil && w.r.Binding != nil && p.Mark.Agent == w.r.Binding.Agent.Text()
}

// cluesOf collects what is known of a typed prompt besides what the terminal shows.
func (w *Session) cluesOf(ctx context.Context, p Prompt) clues {
	trace, err := w.traceOf(p)
	if err != nil {
		w.log().Warn("proof_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
	}
	if trace.Arrived {
		return clues{Arrived: true} // this decides, whatever else is known
	}
	c := clues{Reported: !w.r.ReportsAt.IsZero(), Pasted: w.recall().pasted == p.Key}
	// If the box is not free, nothing is typed, so tmux need not be called.
	c.Quiet = w.term.IsBoxFree() && w.term.quietSince(ctx, p.Mark.At)
	pending, errEvents := w.typist.hasPendingEvents(w.r.ID)
	c.PendingEvents = pending
	switch m := p.Mark; {
	case m.Esc:
		c.Doubt = doubtCancelled
	case w.r.Binding == nil || m.Agent != w.r.Binding.Agent.Text():
		c.Doubt = doubtProcess
	case m.AgentSessionID != w.r.AgentSessionID:
		c.Doubt = doubtMoved
	case err != nil || errEvents != nil:
		c.Doubt = doubtUnreadable
	case trace.Foreign:
		c.Doubt = doubtForeign
	case w.clockWasSet(*m):
		c.Doubt = doubtClock
	case w.now().Sub(m.At) > typedTTL:
		c.Doubt = doubtOld
	}
	return c
}

// traceOf looks for a typed prompt in the transcripts of the session. In the marked transcript it
// starts at the position where the typing began. Only lines dated since then count: an agent may
// write a line some time after what it records, so the lines of an earlier prompt may follow that
// position.
func (w *Session) traceOf(p Prompt) (agent.Trace, error) {
	if d := w.term.agent().Delivery; d != nil {
		has, err := d.HasReceipt(p.Mark.AgentSessionID, agent.Sent{ID: p.delivery(), Text: p.Text, At: p.Mark.At.Truncate(time.Millisecond)})
		return agent.Trace{Arrived: has && err == nil}, err
	}
	path, since := w.markedPath(*p.Mark), p.Mark.At.Truncate(time.Millisecond) // lines are dated in milliseconds
	all, err := w.term.agent().Proof.Trace(path, p.Mark.Offset, since, p.Text)
	for _, c := range w.r.Cursors {
		if err == nil && c.Path != path {
			var one agent.Trace
			one, err = w.term.agent().Proof.Trace(c.Path, 0, since, p.Text)
			all = joined(all, one)
		}
	}
	return all, err
}

// joined combines the evidence of two transcripts.
func joined(a, b agent.Trace) agent.Trace {
	return agent.Trace{Arrived: a.Arrived || b.Arrived, Refused: a.Refused || b.Refused, Foreign: a.Foreign || b.Foreign, Earlier: a.Earlier || b.Earlier}
}

// markedPath returns the transcript to search first for a typed prompt; empty: none yet.
func (w *Session) markedPath(m talk.Mark) string {
	if m.Path != "" {
		return m.Path
	}
	path, _ := w.term.agent().Transcripts.Find(cmp.Or(m.AgentSessionID, w.r.AgentSessionID))
	return path
}

// clockWasSet reports whether the wall clock was set since a mark: it differs from the kernel's
// count of time.
func (w *Session) clockWasSet(m talk.Mark) bool {
	age, ok := w.r.Binding.Agent.Age(w.typist.observer.Moment())
	const tolerated = 2 * time.Second
	return !ok || (w.now().Sub(m.At)-(age-m.Age)).Abs() > tolerated
}

// Do carries out an act for the head prompt.
func (w *Session) Do(ctx context.Context, act Act, why news.Wait, head *Prompt) error {
	if head == nil {
		return nil
	}
	switch act {
	case Hold:
		return w.hold(ctx, why, head)
	case Type:
		return w.typePrompt(ctx, *head)
	case Clear:
		return w.clearOwnText(ctx, *head)
	case Proven:
		return w.Finish(ctx, *head)
	case Settle:
		return w.settleTyped(ctx, *head)
	case GiveUp:
		return w.settlePrompt(ctx, *head)
	}
	return nil
}

// settleTyped decides about a typed prompt by all that is known of it, and acts.
func (w *Session) settleTyped(ctx context.Context, p Prompt) error {
	c := w.cluesOf(ctx, p)
	d := decideTyped(w.term.View, &p, c)
	w.Again = d.Again
	switch d.Act {
	case Proven:
		return w.arrived(ctx, p)
	case enter:
		return w.enter(ctx, p)
	case repeat:
		p.Repeated = true
		return w.typePrompt(ctx, p)
	case takeBack:
		return w.askAbout(ctx, p, true)
	case Hold:
		return w.hold(ctx, d.Why, &p)
	case GiveUp:
		return w.unproven(ctx, p, c.Doubt)
	}
	return nil
}

// arrived finishes a prompt that a transcript shows. If no hook has named the transcript yet, the
// chat follows it from its beginning.
func (w *Session) arrived(ctx context.Context, p Prompt) error {
	if _, followed := w.r.Cursor(); !followed {
		w.r.Cursors = append(w.r.Cursors, talk.Cursor{Path: w.markedPath(*p.Mark)})
		if err := w.turn.Follow(ctx); err != nil {
			return err
		}
	}
	return w.Finish(ctx, p)
}
