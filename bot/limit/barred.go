package limit

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// barredKind is the kind of the cards about planned prompts of people who are no longer allowed.
const barredKind = "limit-barred"

// tellPlanners asks about the planned prompts whose person or place is no longer allowed. They wait.
func (l *Continuing) tellPlanners(ctx context.Context) error {
	defer l.barred.Hold()()
	var errs []error
	barred := make(map[string]bool)
	for _, c := range l.cards.List() {
		p, err := l.bar(ctx, c.Key)
		if barred[c.Key] = p.Barred; p.Barred {
			r, _ := l.chat.Book.Records.Get(p.Session)
			says := func(w chat.Phrases) render.Text {
				return chat.Lines(w.Text(i18n.LimitBarred, i18n.Args{"Name": r.Name, "At": w.At(p.due())}), chat.Quoted(p.text()))
			}
			err = errors.Join(err, l.barred.Ask(ctx, c.Key, r, says))
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, l.barred.CloseUnless(ctx, func(key string) bool { return barred[key] }))...)
}

// bar notes whether a plan may be carried out. Who is back finds it as it was, but nothing is sent that
// was due meanwhile.
func (l *Continuing) bar(ctx context.Context, key string) (plan, error) {
	defer l.cards.Hold()()
	c, open := l.cards.Get(key)
	p := c.Payload
	if !open || !p.planned() {
		return plan{}, nil
	}
	r, known := l.chat.Book.Records.Get(p.Session)
	if known && r.State == port.StateUnknown { // so is its place
		return p, nil
	}
	was := p.Barred
	p.Barred = r.State.Live() && !l.chat.Book.MayAct(p.By, r.Conversation)
	if p.Barred == was {
		return p, nil
	}
	if was && r.State.Live() && l.isDue(p) {
		w := l.chat.In(c.Content.To)
		p.Refused = true
		c.Content.Text, c.Content.Options = w.Text(i18n.LimitNotSent, i18n.Args{"Name": r.Name, "Reason": w.Say(i18n.PersonHadLeft)}), nil
	}
	return p, l.cards.Show(ctx, key, c.Content, p)
}

// actOnBarred makes a barred plan a person's, or removes it. A plan that has become due is carried out at once.
func (l *Continuing) actOnBarred(ctx context.Context, key string, _ port.Session, by int64) error {
	defer l.planned()
	defer pause.Poke(l.wake)
	defer l.cards.Hold()()
	c, open := l.cards.Get(key)
	p := c.Payload
	if !open || !p.planned() {
		return refusal.New(refusal.NotFound, "nothing is planned any more")
	}
	if err := l.entries.Finish(p.Prompt); err != nil {
		return err
	}
	r, _ := l.chat.Book.Records.Get(p.Session) // it may have moved
	p.Prompt, p.By, p.Barred = "", by, false
	if by != 0 {
		p.Prompt = talk.PromptKey(uuid.New())
	} else if l.isDue(p) {
		w := l.chat.In(c.Content.To)
		return l.cards.Close(ctx, key, w.Text(i18n.LimitNotSent, i18n.Args{"Name": r.Name, "Reason": w.Say(i18n.PersonHadLeft)}))
	}
	return l.cards.Redraw(ctx, key, l.card(r, r.Conversation, p), p)
}
