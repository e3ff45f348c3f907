package prompt

import (
	"context"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/prompts"
	"ccbot/bot/quotation"
)

// correct takes a text that answers the question about a recording: it is what was said, in the person's
// own words, and the question shows it. The text itself is no prompt, so that it does no harm twice. It
// makes no command of the recording: what is one for the agent goes its own way.
func correct(ctx context.Context, p *Prompts, in chat.Incoming, text string) (corrects bool, err error) {
	c, asks := p.cards.Find(in.To, in.ReplyTo)
	_, own, some := prompts.Normalise(text)
	if !asks || c.Payload.Reason != spoken || in.Quoted || !some || own != prompts.Plain {
		return false, nil
	}
	e, err := p.Entries.Load(c.Key)
	if err != nil && !chat.IsGone(err) {
		return false, err
	}
	caption := ""
	if m := messageOf(e); m != nil {
		caption = quotation.Text(m)
	}
	typed, class, _ := prompts.Normalise(withFiles(lines(caption, text), e.Files))
	err = p.Changes.Change(e.Key, func(now *inbox.Entry) error {
		if now.State != inbox.Asked {
			return inbox.ErrNoEntry
		}
		now.Text, now.Class, now.Spoken = typed, string(class), text
		e = *now
		return nil
	})
	if chat.IsGone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r, _ := p.book.Records.Get(e.Session)
	c.Look.Text = c.Payload.text(p.Chat.In(in.To), e, r)
	return true, p.cards.Redraw(ctx, c.Key, c.Look, c.Payload)
}
