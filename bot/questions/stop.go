package questions

import (
	"context"
	"slices"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Kind decides about the questions of one kind of cards.
type Kind interface {
	// Fingerprint names the current content of a question by its key; false: it is not open.
	Fingerprint(key string) (fingerprint string, open bool)
	// Stop denies the request with this mark and ends the turn of its agent, as a person wants.
	// refusal.Changed: the agent asks something else, and nothing is done.
	Stop(ctx context.Context, key, fingerprint string, by int64) error
}

// stop is the payload of a message that asks how to stop an agent that asks something.
type stop struct {
	questionRef
	Fingerprint string `json:"fingerprint"`
}

const (
	stopKind   = "stop-asked"
	denyOption = "deny"
	showOption = "show"
)

// Stopping asks how to stop an agent with an open question, which an Esc would answer. False: no
// question is shown.
func (q *Questions) Stopping(ctx context.Context, in chat.Incoming, r port.Session) (asked bool, err error) {
	one, what, open := q.toStop(r)
	if !open {
		return false, nil
	}
	p := q.Chat.In(in.To)
	look := card.Content{To: in.To, Session: r.ID, ReplyTo: in.MessageID, Text: p.Text(i18n.StopAsked, i18n.Args{"Name": r.Name}),
		Options: chat.Rows(2, p.Option(i18n.ButtonDenyAndStop, denyOption, outbox.Danger),
			p.Option(i18n.ButtonShowQuestion, showOption, outbox.Primary))}
	what.questionRef = nameOf(one)
	return true, q.stops.Post(ctx, look, what)
}

// nameOf names a question.
func nameOf(one card.Question) questionRef { return questionRef{one.Kind, one.Key} }

// toStop finds the oldest open question of a session that can be denied.
func (q *Questions) toStop(r port.Session) (one card.Question, what stop, open bool) {
	for _, one := range q.open() {
		if kind := q.Kinds[one.Kind]; one.Session == r.ID && kind != nil {
			if fingerprint, open := kind.Fingerprint(one.Key); open {
				return one, stop{Fingerprint: fingerprint}, true
			}
		}
	}
	return one, what, false
}

// tapStop denies the question and stops the agent, or shows the question. A second tap finds no
// card.
func (q *Questions) tapStop(ctx context.Context, t chat.Tap, was stop) (chat.Answer, error) {
	i := slices.IndexFunc(q.open(), func(one card.Question) bool { return nameOf(one) == was.questionRef })
	if t.Card.Option == showOption && i >= 0 {
		return chat.Do(func(ctx context.Context) error { return q.bring(ctx, t.To, q.open()[i], false, true) })
	}
	if i < 0 || q.Kinds[was.Kind] == nil {
		return q.stops.AnswerExpired(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		p := q.Chat.In(t.To)
		r, _ := q.Chat.Book.Records.Get(t.Card.Session)
		last := chat.Lines(p.Text(i18n.StopDenied, i18n.Args{"Name": r.Name}), q.Chat.By(t.To, t.From))
		if err := q.stops.Close(ctx, t.Card.Key, last); err != nil { // before anything is pressed: it is done once
			return err
		}
		if err := q.Halt(ctx, r.ID); err != nil {
			return err
		}
		err := q.Kinds[was.Kind].Stop(ctx, was.Key, was.Fingerprint, t.From)
		if refusal.Is(err, refusal.Changed) {
			return q.Chat.ReplyToTap(ctx, t, render.Plain(p.Say(i18n.StopChanged, i18n.Args{"Name": r.Name})))
		}
		return err
	})
}
