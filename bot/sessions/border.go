package sessions

import (
	"context"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/port"
)

// enterOption agrees that a session comes into a group.
const enterOption = "enter"

// AskBorder asks before a session comes into a group, whose members may then read what was said in
// another chat. With a yes the resume goes on, or the open session is the current one.
func (s *Sessions) AskBorder(ctx context.Context, q chat.Resume) error {
	p := s.chat.In(q.To)
	content := card.Content{To: q.To, Session: q.Session.ID, Text: p.BorderText(q.Session), Options: p.Confirm(i18n.ButtonShowHere, enterOption, q.From)}
	return s.border.Post(ctx, content, q.Restore())
}

// tapBorder brings the session into the group, as a person has agreed.
func (s *Sessions) tapBorder(ctx context.Context, t chat.Tap, was port.Restore) (chat.Answer, error) {
	q, ok := s.chat.Accepted(was, t)
	if !ok || t.Card.Option != enterOption {
		return s.border.AnswerExpired(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		if err := s.chat.Book.EnterAgreed(ctx, t.To, q.Session); err != nil {
			return err
		}
		if err := s.border.End(ctx, t, ""); err != nil {
			return err
		}
		q, _ := s.chat.Accepted(was, t)
		if r := q.Session; r.State.Open() && !comesBack(r) {
			return s.makeOpenCurrent(ctx, q)
		}
		_, err := s.Resume(ctx, q)
		return err
	})
}

// Left says where people read a session that it goes on elsewhere, with a way back.
func (s *Sessions) Left(ctx context.Context, r port.Session, to address.Conversation) error {
	p := s.chat.In(r.Conversation)
	text := p.Text(i18n.GoesOnElsewhere, i18n.Args{"Name": r.Name})
	if link := s.chat.LinkTo(to, 0); link != "" {
		text = render.Link(text, link)
	}
	return s.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: text,
		Options: p.Link(i18n.ButtonBringBack, chat.HereLink, r.ID, "")})
}
