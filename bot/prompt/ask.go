package prompt

import (
	"context"
	"errors"
	"slices"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// kind is that of the cards; the key of a card is that of the prompt's entry.
const kind = "question"

// asked is what the buttons of a card were drawn for.
type asked struct {
	Reason  reason `json:"reason"`
	Request string `json:"request,omitempty"` // that the prompt waits behind
}

// ask shows a question under the message of a prompt. A question for another reason has a message of
// its own.
func (p *Prompts) ask(ctx context.Context, why asked, e inbox.Entry, r views.Session) error {
	if c, ok := p.cards.Get(e.Key); ok && c.Payload != why {
		if err := p.cards.Close(ctx, e.Key, render.Text{}); err != nil {
			return err
		}
	}
	q := questions[why.Reason]
	look := card.Look{To: e.Conversation, Session: r.ID, ReplyTo: e.MessageID,
		Silent: q.state == inbox.Held, Text: q.text(p.Chat.Phrases, e, r.Name),
		Options: q.options(p.Chat.Phrases)}
	if err := p.cards.Show(ctx, e.Key, look, why); err != nil {
		return err
	}
	if q.warns {
		p.Chat.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
	}
	return nil
}

// wait takes a prompt out of its queue, if it is in one, until a person has answered a question.
func (p *Prompts) wait(ctx context.Context, why reason, e inbox.Entry, r views.Session) error {
	if err := p.ask(ctx, asked{Reason: why}, e, r); err != nil {
		return err
	}
	e.State, e.Aged, e.Told, e.Typing = inbox.Asked, false, nil, nil
	return p.save(e)
}

// offer says under a prompt that it waits behind a request, which it may decide, too. Of the prompts
// behind a request one at a time is offered: the others wait.
func (p *Prompts) offer(ctx context.Context, e inbox.Entry, r views.Session) (behind bool, err error) {
	if e.Class != string(prompts.Plain) {
		return false, nil
	}
	request, answers := p.Requests.Behind(r.ID, e.Conversation)
	isOffer := func(c card.Card[asked]) bool { return c.Payload.Request == request }
	if request == "" || slices.ContainsFunc(p.cards.List(), isOffer) {
		return request != "", nil
	}
	why := reasoning
	if answers {
		why = answering
	}
	return true, p.ask(ctx, asked{Reason: why, Request: request}, e, r)
}

// isOver reports whether a question needs no answer any more. A question is shown before its prompt
// is in the state that the question is about.
func (p *Prompts) isOver(was asked, now inbox.State) bool {
	q := questions[was.Reason]
	asking := q.state == inbox.Asked && now == inbox.Accepted ||
		q.state == inbox.Unproven && now == inbox.Typing
	return now != q.state && !asking || was.Request != "" && !p.Requests.IsOpen(was.Request)
}

// Tidy closes the questions that need no answer any more: their prompts left or were decided about
// while no ccbot was there to say so, or the requests before them are over.
func (p *Prompts) Tidy(ctx context.Context) {
	for _, c := range p.cards.List() {
		e, err := p.Entries.Load(c.Key)
		if chat.IsGone(err) || err == nil && p.isOver(c.Payload, e.State) {
			err = p.cards.Close(ctx, c.Key, render.Text{})
		}
		if err != nil {
			p.Chat.Log.Error("question_not_closed", "key", c.Key, "error", err.Error())
		}
	}
}

// tap answers a question. Any allowed person of its chat may.
func (p *Prompts) tap(ctx context.Context, t chat.Tap, was asked) (chat.Answer, error) {
	q := questions[was.Reason]
	i := slices.IndexFunc(q.answers, func(a answer) bool { return string(a.word) == t.Card.Option })
	e, err := p.Entries.Load(t.Card.Key)
	switch {
	case chat.IsGone(err), err == nil && p.isOver(was, e.State):
		return p.cards.Over(ctx, t)
	case err != nil:
		return chat.Answer{}, err
	case i < 0, e.State != q.state: // which it will be in a moment
		return chat.Answer{Text: p.words.Say(i18n.StaleButton)}, nil
	}
	return chat.Do(func(ctx context.Context) error { return p.answer(ctx, t, was, q.answers[i], e) })
}

// answer carries a decision out. The question says what became of the prompt, or stays where the
// decision cannot be carried out now.
func (p *Prompts) answer(ctx context.Context, t chat.Tap, was asked, a answer, e inbox.Entry) error {
	r, ok := p.book.Records.Get(e.Session)
	if !ok {
		return p.Homeless(ctx, []string{e.Key})
	}
	r = p.book.Successor(r)
	reaction := chat.ReactionStored
	if a == dropIt {
		reaction = chat.ReactionNone
	}
	// What comes of a queued prompt marks its message next.
	p.Chat.Mark(ctx, e.Conversation, e.MessageID, reaction)
	switch err := p.decide(ctx, a, e, r, was, t.From); {
	case chat.IsGone(err):
		return errors.Join(p.Chat.Tell(ctx, t, p.words.Say(i18n.StaleButton)), p.cards.End(ctx, t, ""))
	case err != nil:
		f := p.Chat.Failure(r, err)
		if f.Internal {
			return err
		}
		return p.Chat.Tell(ctx, t, f.Text.Text)
	}
	if c, ok := p.cards.Get(e.Key); ok {
		became := render.Plain(p.words.Say(a.became, i18n.Args{"Name": r.Name}))
		if err := p.cards.Close(ctx, e.Key, chat.Paragraphs(c.Look.Text, became)); err != nil {
			return err
		}
	}
	if a != resumeAndSend || r.Live {
		return nil
	}
	return p.bringBack(ctx, e, r, t.From)
}
