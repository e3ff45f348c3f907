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

// entering is a session that comes into a group if a person agrees.
type entering struct {
	port.Restore
	Undo   bool `json:"undo,omitempty"`    // see chat.Resume
	GoesOn bool `json:"goes_on,omitempty"` // its interrupted work is continued then
	Turns  int  `json:"turns,omitempty"`   // that the question names
}

// AskBorder asks before a session comes into a group, whose members may then read what was said in
// another chat. With a yes the resume goes on, or the open session is the current one.
func (s *Sessions) AskBorder(ctx context.Context, q chat.Resume) error {
	return s.askBorder(ctx, q, false)
}

func (s *Sessions) askBorder(ctx context.Context, q chat.Resume, goesOn bool) error {
	p := s.chat.In(q.To)
	content := card.Content{To: q.To, Session: q.Session.ID, Text: p.BorderText(q.Session), Options: p.Confirm(i18n.ButtonShowHere, enterOption, q.From)}
	return s.border.Post(ctx, content, entering{q.Restore(), q.Undo, goesOn, q.Session.Turns})
}

// tapBorder brings the session into the group, as a person has agreed.
func (s *Sessions) tapBorder(ctx context.Context, t chat.Tap, was entering) (chat.Answer, error) {
	q, ok := s.chat.Accepted(was.Restore, t)
	if !ok || t.Card.Option != enterOption {
		return s.border.AnswerExpired(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		q.Undo = was.Undo
		p := s.chat.In(t.To)
		if chat.MoreWasSaid(was.Turns, q.Session) && s.chat.Book.MayEnter(t.To, q.Session) != nil {
			if err := s.border.Close(ctx, t.Card.Key, render.Plain(p.Say(i18n.QuestionBelow))); err != nil {
				return err
			}
			return s.askBorder(ctx, q, was.GoesOn)
		}
		if err := s.chat.Book.EnterAgreed(ctx, t.To, q.Session, t.From); err != nil {
			return err
		}
		if err := s.border.Close(ctx, t.Card.Key, chat.Lines(p.BorderText(q.Session), s.chat.By(t.To, t.From))); err != nil {
			return err
		}
		now, _ := s.chat.Accepted(was.Restore, t)
		q.Session = now.Session
		var err error
		switch r := q.Session; {
		case was.GoesOn:
			_, err = s.Continue(ctx, q)
		case r.State.Open() && !comesBack(r):
			err = s.makeOpenCurrent(ctx, q)
		default:
			_, err = s.Resume(ctx, q)
		}
		return err
	})
}

// Left says where people read a session that it goes on elsewhere, with a way back.
func (s *Sessions) Left(ctx context.Context, r port.Session, to address.Conversation, by int64) error {
	p := s.chat.In(r.Conversation)
	text := p.Text(i18n.GoesOnElsewhere, i18n.Args{"Name": r.Name})
	if link := s.chat.LinkTo(to, 0); link != "" {
		text = render.Link(text, link)
	}
	return s.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: chat.Lines(text, s.chat.By(r.Conversation, by)),
		Options: p.Link(i18n.ButtonBringBack, chat.HereLink, r.ID, "")})
}
