package prompt

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Firsts returns the texts that wait for a new session of a place, oldest first, and when the first
// of them was sent. Until then each has a question: nothing is lost if no session is started.
func (p *Prompts) Firsts(to address.Conversation, by int64) (texts []string, since time.Time) {
	for i, e := range p.firsts(to, by) {
		if texts = append(texts, e.Text); i == 0 {
			since = sentOf(e)
		}
	}
	return texts, since
}

func (p *Prompts) firsts(to address.Conversation, by int64) (all []inbox.Entry) {
	for _, c := range p.cards.List() {
		if !c.Payload.isSame(facts{Reason: first, By: by}, to) || c.Content.To != to {
			continue
		}
		if e, err := p.Entries.Load(c.Key); err == nil && e.State == inbox.Asked {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b inbox.Entry) int { return a.MessageID - b.MessageID })
	return all
}

// SettleFirsts sends these prompts in their order to the new session, and drops them for the zero
// session.
func (p *Prompts) SettleFirsts(ctx context.Context, to address.Conversation, by int64, r port.Session) error {
	a := sendTo
	if r.ID == uuid.Nil {
		a = dropIt
	}
	var errs []error
	was := facts{Reason: first, By: by}
	for _, e := range p.firsts(to, by) {
		// A person may have sent it elsewhere while earlier prompts were on their way.
		if now, err := p.Entries.Load(e.Key); err != nil || now.State != inbox.Asked {
			continue
		}
		err := p.decide(ctx, a, e, r, was, by)
		if err != nil {
			if err = explain(ctx, p, e, r, err); err == nil {
				err = p.ask(ctx, was, e, port.Session{})
			}
		} else {
			if a == dropIt {
				p.Chat.React(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
			}
			err = p.answered(ctx, a, e, r, was, by)
		}
		if !chat.IsGone(err) {
			errs = append(errs, err)
		}
	}
	if r.ID != uuid.Nil {
		errs = append(errs, settlePaths(ctx, p, to, by))
	}
	return errors.Join(errs...)
}

// isPath reports whether a prompt is taken for the path of a folder.
func (a facts) isPath() bool { return a.Reason == asFolder || a.Reason == noFolder }

// refusal returns, for noFolder, why no session may start in the folder.
func (a facts) refusal(p chat.Phrases) render.Text {
	if a.Reason != noFolder {
		return render.Text{}
	}
	return p.Failure(port.Session{}, &refusal.Error{Code: a.Refused, Dir: a.File}).Text
}

// settlePaths ends the texts that were taken as paths of folders: the session has begun.
func settlePaths(ctx context.Context, p *Prompts, to address.Conversation, by int64) error {
	var errs []error
	for _, c := range p.cards.List() {
		if !c.Payload.isPath() || c.Payload.By != by || c.Content.To != to {
			continue
		}
		if err := p.Entries.FinishIn(c.Key, inbox.Asked); err != nil && !chat.IsGone(err) {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, p.cards.Close(ctx, c.Key, c.Content.Text))
	}
	return errors.Join(errs...)
}

// becomeFirst makes a first prompt of a text that was taken as a folder's path.
func becomeFirst(ctx context.Context, p *Prompts, c card.Card[facts]) error {
	e, err := p.Entries.Load(c.Key)
	if err != nil || e.State != inbox.Asked {
		return err
	}
	return p.wait(ctx, facts{Reason: first, By: c.Payload.By}, e, port.Session{})
}
