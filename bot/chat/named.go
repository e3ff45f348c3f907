package chat

import (
	"context"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/port/views"
	"ccbot/i18n"
)

// nowFor is how long a choice for a command that means the turn that runs may be answered.
const nowFor = time.Minute

// OnSession does what a command says with the session that is meant.
type OnSession = func(ctx context.Context, in Incoming, r views.Session) error

// ByName adds to a feature a command about one session: the one that the argument names, or that the
// message answers, or that is the current one. Where several may be meant, buttons ask which. Of a
// session that does not fit it is told that it is over.
func (c *Chat) ByName(f *Feature, command Command, fits func(views.Session) bool, do OnSession) {
	kind := "which-" + command.Name
	which := c.NewChoice(kind, i18n.WhichSession, i18n.Args{"Command": "/" + command.Name},
		func(ctx context.Context, t Tap, r views.Session, a Among) (bool, error) {
			in := Incoming{Message: conversation.Message{To: t.To}, From: t.From, MessageID: a.Message}
			if !fits(r) {
				return true, c.TellNone(ctx, in, r.Name, []views.Session{r})
			}
			return true, do(ctx, in, r)
		})
	if command.Now { // it means the turn that runs
		which.open = nowFor
	}
	command.Run = func(ctx context.Context, in Incoming, name string) error {
		found, err := c.Book.FindFor(in.Message, name, fits)
		switch {
		case err != nil:
			return err
		case len(found) > 1:
			return which.Post(ctx, in.To, found, Among{From: in.From, Message: in.MessageID})
		case len(found) == 1 && fits(found[0]):
			return do(ctx, in, found[0])
		}
		return c.TellNone(ctx, in, name, found)
	}
	f.Commands, f.Cards[kind] = append(f.Commands, command), which.OnTap()
}

// TellNone says that the session that was found is over, with the way back, or that none was found.
func (c *Chat) TellNone(ctx context.Context, in Incoming, name string, found []views.Session) error {
	p := c.In(in.To)
	switch {
	case len(found) > 0:
		return c.For(found[0].ID).Post(ctx, in.To, p.OverText(found[0]), p.ResumeLink(found[0]))
	case name == "":
		return c.Say(ctx, in.To, c.NoSessionText(in.To))
	}
	return c.Post(ctx, card.Look{To: in.To, Text: p.Text(i18n.NoSuchSession, i18n.Args{"Name": name})})
}
