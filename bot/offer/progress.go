package offer

import (
	"context"
	"errors"
	"slices"

	"ccbot/bot/inbox"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Progress applies what an engine reports about a prompt to its entry. A report about an earlier
// offer, or about a session of another machine, changes nothing. asks reports that a person has to
// decide about the prompt now.
func (o Prompts) Progress(ctx context.Context, n news.Progress) (asks bool, err error) {
	e, err := o.Entries.Load(n.Key)
	if err != nil && !errors.Is(err, inbox.ErrNoEntry) {
		return false, err
	}
	held := slices.Contains([]talk.PromptState{talk.PromptHeld, talk.PromptTyping, talk.PromptUnproven}, n.State)
	switch owned := err == nil && e.MayBeHeld() && e.Machine == n.Machine; {
	case owned && e.Number > n.Number, !owned && !held, held && o.MachineOf(n.Session) != n.Machine:
		return false, nil
	case !owned: // the chat has decided about it since
		return false, o.Engines.TakeBack(ctx, n.Session, n.Key, n.Number, false)
	case held:
		return false, o.show(e, n)
	}
	err = o.Entries.Leave(n.Key, n.Number, n.State == talk.PromptDelivered)
	return n.State != talk.PromptDelivered, err
}

// show shows the progress of a prompt in its entry. One that could not be taken back is the
// engine's.
func (o Prompts) show(e inbox.Entry, n news.Progress) error {
	if e.State == inbox.Accepted {
		err := o.Entries.Change(e.Key, func(e *inbox.Entry) error {
			if e.State != inbox.Accepted {
				return inbox.ErrUnchanged
			}
			e.State = inbox.Held
			return nil
		})
		if err != nil {
			return unlessGone(err)
		}
	}
	o.Entries.Show(e.Key, func(e *inbox.Entry) {
		e.State, e.Session, e.Reported, e.Typing = inbox.State(n.State), n.Session, slices.Clone(n.Waits), n.Mark
		if n.Text != e.Typed() || n.Class != e.Class { // a later edit
			_, text, spoken := talk.CutSpeaker(n.Text)
			if e.Text = n.Text; spoken && e.Speaker != "" {
				e.Text = text
			}
		}
		e.Class, e.Repeated = n.Class, n.Repeated
	})
	return nil
}

func unlessGone(err error) error {
	if refusal.Is(err, refusal.NotFound) {
		return nil
	}
	return err
}
