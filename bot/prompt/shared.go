package prompt

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/attachment"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
)

const (
	mostDown    = 4 // sessions that one question offers to resume
	mostFolders = 3 // lastFolders in which it offers to start one
)

// isShared reports whether one question stands for all prompts of a place that wait for this reason.
func (a asked) isShared(to address.Conversation) bool {
	return a.Reason == nobody || a.Reason == unaddressed && to.ThreadID != 0
}

// sharedBy returns the open question that stands for a prompt, too.
func sharedBy(p *Prompts, why asked, e inbox.Entry) (c card.Card[asked], is bool) {
	for _, c := range p.cards.List() {
		if c.Key != e.Key && c.Look.To == e.Conversation && c.Payload == why && why.isShared(c.Look.To) {
			first, err := p.Entries.Load(c.Key)
			return c, err == nil && !p.isOver(why, first.State)
		}
	}
	return c, false
}

// together returns the other prompts that a shared question stands for, oldest first. They have no question of their own.
func together(p *Prompts, c card.Card[asked]) []inbox.Entry {
	all, err := p.Entries.List()
	if err != nil || !c.Payload.isShared(c.Look.To) {
		return nil
	}
	return slices.DeleteFunc(all, func(e inbox.Entry) bool {
		_, own := p.cards.Get(e.Key)
		return own || e.State != inbox.Asked || e.Session != uuid.Nil || e.Conversation != c.Look.To
	})
}

// writeShared writes how many prompts wait for the answer to a shared question, and what the answer may be by now.
func writeShared(p *Prompts, c *card.Card[asked]) {
	if !c.Payload.isShared(c.Look.To) {
		return
	}
	words := p.Chat.In(c.Look.To)
	c.Look.Options = questions[c.Payload.Reason].options(words, choicesFor(p, c.Payload))
	if n := len(together(p, *c)); n > 0 {
		c.Look.Hint = chat.Lines(c.Look.Hint, render.Plain(words.Say(i18n.TextsWait, i18n.Args{"Count": n + 1})))
	}
}

// choicesFor are what the buttons of a question offer now.
func choicesFor(p *Prompts, why asked) choices {
	lost := p.Chat.Lost()
	c := choices{open: openIn(p.book.Records), all: len(lost) > 1, command: why.Command}
	var down []views.Session
	switch {
	case c.all:
		down = lost
	case why.Reason == nobody:
		down = slices.DeleteFunc(p.book.Records.List(), func(r views.Session) bool { return !r.Resumable })
	}
	slices.SortStableFunc(down, func(a, b views.Session) int { return b.EndedAt.Compare(a.EndedAt) })
	c.down = down[:min(len(down), mostDown)]
	if why.Reason == nobody {
		c.folders = lastFolders(p)
	}
	return c
}

// folder is one in which a session may be started.
type folder struct{ dir, shown string }

// lastFolders returns the folders in which the last sessions worked, the newest first; the home folder if there is none. A
// start in one that is missing is refused with its reason.
func lastFolders(p *Prompts) (all []folder) {
	for _, r := range slices.Backward(p.book.Records.List()) {
		f := folder{r.Dir, p.Chat.ShortTail(r.Dir)}
		if len(all) < mostFolders && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	if home := p.Chat.Places.Bounds().Home; len(all) == 0 {
		all = append(all, folder{home, p.Chat.ShortTail(home)})
	}
	return all
}

// answerAll carries a decision out for a prompt, and for those that share its question, in their order. chosen is the
// folder of startIn. After a crash those that are left are asked about again.
func answerAll(ctx context.Context, p *Prompts, t chat.Tap, was asked, a answer, e inbox.Entry, r views.Session, chosen string) error {
	c, _ := p.cards.Get(e.Key)
	others, all := together(p, c), false
	switch {
	case a == startIn:
		began, ok, err := p.Chat.Begin(ctx, e.Conversation, control.Start{Dir: chosen, Owner: t.From, Origin: e.Key})
		if err != nil || !ok {
			return err
		}
		p.Chat.At("text-begun")
		a, r = sendTo, began
	case a == resumeTo && r.Live:
		a = sendTo
	case a == resumeTo:
		a, all = resumeAndSend, len(p.Chat.Lost()) > 1
	}
	if err := p.answer(ctx, t, was, a, e, r); err != nil {
		return err
	}
	if now, open := p.cards.Get(e.Key); open && now.Payload == was {
		return nil // the decision was not possible, which the person was told
	}
	var errs []error
	for _, one := range others {
		err := p.decide(ctx, a, one, r, was, t.From)
		problem, refused := errors.AsType[attachment.Refused](err)
		switch {
		case refused: // it stays under a question of its own
			err = errors.Join(p.Chat.Warn(ctx, one.Conversation, one.MessageID, render.Plain(problem.Error()), nil),
				p.ask(ctx, was, one, views.Session{}))
		case err == nil && a == dropIt:
			p.Chat.Mark(ctx, one.Conversation, one.MessageID, chat.ReactionNone)
		}
		if !chat.IsGone(err) {
			errs = append(errs, err)
		}
	}
	if all {
		errs = append(errs, p.Chat.ResumeAll(ctx, t.To, t.From))
	}
	return errors.Join(errs...)
}

// redrawShared draws the shared questions of a chat again, after a session has become the current one there.
func redrawShared(ctx context.Context, p *Prompts, to address.Conversation) error {
	var errs []error
	for _, c := range p.cards.List() {
		e, err := p.Entries.Load(c.Key)
		if err == nil && c.Look.To.ChatID == to.ChatID && c.Payload.isShared(c.Look.To) && !p.isOver(c.Payload, e.State) {
			errs = append(errs, p.redraw(ctx, c, e))
		}
	}
	return errors.Join(errs...)
}
