package prompt

import (
	"context"
	"errors"
	"slices"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// kind is that of the cards; the key of a card is that of the prompt's entry.
const kind = "question"

// asked is what the buttons of a card were drawn for.
type asked struct {
	Reason reason `json:"reason"`
}

// ask shows a question under the message of a prompt, in place of an earlier one for another
// reason.
func (p *Prompts) ask(ctx context.Context, why reason, s subject, r views.Session) error {
	q := questions[why]
	s.session = r.Name
	if c, ok := p.cards.Get(s.Key); ok && c.Payload.Reason != why {
		if err := p.closes(ctx, s.Key); err != nil {
			return err
		}
	}
	err := p.cards.Show(ctx, s.Key, card.Look{To: s.Conversation, Session: r.ID, ReplyTo: s.MessageID, Silent: q.silent,
		Text: q.says(p.Chat.Phrases, s), Options: q.options(p.words)}, asked{why})
	if err == nil {
		p.Chat.Mark(ctx, s.Conversation, s.MessageID, q.reaction)
	}
	return err
}

// wait takes a prompt out of its queue, if it is in one, until a person has answered a question.
func (p *Prompts) wait(ctx context.Context, why reason, e inbox.Entry, r views.Session) error {
	err := p.ask(ctx, why, subject{Entry: e}, r)
	if err == nil {
		e.State, e.Aged, e.Told, e.Typing = inbox.Asked, false, nil, nil
		err = p.save(e)
	}
	return later(err)
}

// closes takes the buttons off the question about a prompt that needs no answer any more.
func (p *Prompts) closes(ctx context.Context, key string) error {
	return p.cards.Close(ctx, key, render.Text{})
}

// tidy closes the questions about prompts that left, or were decided about, while no ccbot was there to
// say so.
func (p *Prompts) tidy(ctx context.Context) error {
	for _, c := range p.cards.List() {
		e, err := p.Entries.Load(c.Key)
		if errors.Is(err, inbox.ErrNoEntry) || err == nil && questions[c.Payload.Reason].decided(e.State) {
			err = p.closes(ctx, c.Key)
		}
		if err != nil {
			p.Chat.Log.Error("question_not_closed", "key", c.Key, "error", err.Error())
		}
	}
	return nil
}

// tap answers a question. Any allowed person of its chat may. A question is shown before its prompt
// is in the state that the question is about: where the prompt is in another state nothing is done,
// and the question stays.
func (p *Prompts) tap(_ context.Context, t chat.Tap) (chat.Answer, error) {
	q, err := p.cards.Payload(t.Card)
	if err != nil {
		return chat.Answer{}, err
	}
	stale := func(then func(ctx context.Context) error) (chat.Answer, error) {
		return chat.Answer{Text: p.words.Say(i18n.StaleButton), Then: then}, nil
	}
	asks := questions[q.Reason]
	i := slices.IndexFunc(asks.answers, func(a answer) bool { return string(a.option) == t.Card.Option })
	e, err := p.Entries.Load(t.Card.Key)
	switch {
	case chat.IsGone(err):
		return stale(func(ctx context.Context) error { return p.closes(ctx, t.Card.Key) })
	case err != nil:
		return chat.Answer{}, err
	case asks.decided(e.State):
		return stale(func(ctx context.Context) error { return p.closes(ctx, t.Card.Key) })
	case i < 0, e.State != asks.state:
		return stale(nil)
	}
	r, ok := p.book.Records.Get(e.Session)
	r = p.book.Successor(r)
	switch {
	case !ok:
		return stale(func(ctx context.Context) error { return p.Homeless(ctx, []string{e.Key}) })
	case asks.answers[i].option == send && !r.Live: // the person may bring the session back first
		return chat.Answer{Text: p.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name}), Alert: true}, nil
	}
	return chat.Do(func(ctx context.Context) error { return p.answer(ctx, t, asks.answers[i], e, r) })
}

// answer carries a decision out. The question says what became of the prompt, or stays where the
// decision cannot be carried out now.
func (p *Prompts) answer(ctx context.Context, t chat.Tap, a answer, e inbox.Entry, r views.Session) error {
	switch err := p.decide(ctx, a.option, e, r); {
	case chat.IsGone(err):
		return errors.Join(p.Chat.Tell(ctx, t, p.words.Say(i18n.StaleButton)), p.closes(ctx, e.Key))
	case err != nil:
		f := p.Chat.Failure(r, err)
		if f.Internal {
			return err
		}
		return p.Chat.Tell(ctx, t, f.Text.Text)
	}
	if c, ok := p.cards.Get(e.Key); ok {
		became := "\n\n" + p.words.Say(a.became, i18n.Args{"Name": r.Name})
		if err := p.cards.Close(ctx, e.Key, render.Join(c.Look.Text, render.Plain(became))); err != nil {
			return err
		}
	}
	if a.option != resume || r.Live {
		return nil
	}
	now, ok, err := p.book.CurrentSession(e.Conversation)
	stays := err == nil && ok && now.ID != r.ID && now.Live // the current session stays the current one
	_, err = p.Resumer.Resume(ctx, chat.Resume{Session: r, To: e.Conversation, From: t.From, Undo: stays})
	return err
}

// decide does with a prompt what a person has decided. What comes of a queued prompt marks its
// message next, so the message is marked before that.
func (p *Prompts) decide(ctx context.Context, o option, e inbox.Entry, r views.Session) (err error) {
	mark := func(reaction string) { p.Chat.Mark(ctx, e.Conversation, e.MessageID, reaction) }
	switch o {
	case again:
		mark(chat.ReactionStored)
		if err = p.Decisions.SendAgain(ctx, e.Session, e.Key); err != nil {
			mark(chat.ReactionNone)
		}
	case anyway: // what stood in the box comes as news
		err = p.Decisions.SendAnyway(ctx, e.Session, e.Key)
	case send:
		if err = p.book.MoveTo(ctx, e.Conversation, r); err == nil { // the answer comes to where the text came from
			err = p.Queue.Queue(ctx, r.ID, e.Key)
		}
	case resume: // the prompt is in the queue first: whatever a resume asks before it succeeds, the prompt waits there
		if err = p.Queue.Keep(ctx, r.ID, e.Key); err == nil {
			p.noteTarget(e.Conversation, e.MessageID, e.Key, r)
			mark(chat.ReactionStored)
		}
	case drop:
		if e.State == inbox.Unproven { // it may stand in the box
			err = p.Decisions.Drop(ctx, e.Session, e.Key)
		} else {
			err = p.Changes.FinishIn(e.Key, inbox.Asked)
		}
		if err == nil {
			mark(chat.ReactionNone)
		}
	}
	return err
}
