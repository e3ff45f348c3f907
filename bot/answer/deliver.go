package answer

import (
	"bytes"
	"context"
	"errors"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// way is one of the ways to show a part of an answer.
type way string

const (
	byRich     way = "rich"     // a rich message
	byEntities way = "entities" // the same as text with entities, which may be several messages
	byText     way = "text"     // the outbox tries once more without formatting
	byFile     way = "file"     // the outbox tries a picture once more as a document
)

// fallbacks are the ways that a part has, the best first. Each is for when the one before it was
// refused.
func fallbacks(p render.Part, rich bool) []way {
	switch {
	case p.File != nil:
		return []way{byFile}
	case p.Rich != "" && rich:
		return []way{byRich, byEntities}
	case p.Rich != "":
		return []way{byEntities}
	}
	return []way{byText, byFile}
}

// needsFallback reports whether an error is about this way to show a part only. In a chat that
// takes nothing at all, or without a connection, no other way is better; and on a server without
// rich messages every rich part is to be shown otherwise.
func needsFallback(err error) bool {
	return chat.IsRefused(err) && !errors.Is(err, outbox.ErrNoRich)
}

// deliver shows a part in the best way that the Bot API takes, on any server.
func (a *Answers) deliver(ctx context.Context, r views.Session, p render.Part) error {
	err := a.sendWithFallback(ctx, r, p, a.Limits.TakesRich())
	if errors.Is(err, outbox.ErrNoRich) {
		return a.sendWithFallback(ctx, r, p, false)
	}
	return err
}

// sendWithFallback tries one way after the other. A part that the Bot API takes in no way is
// recorded and passed, so that the part holds nothing up. At a stop a call that is under way
// finishes.
func (a *Answers) sendWithFallback(ctx context.Context, r views.Session, p render.Part, rich bool) error {
	var refusal error
	for _, w := range fallbacks(p, rich) {
		err := a.sendBy(context.WithoutCancel(ctx), r, p, w)
		if !needsFallback(err) {
			return err
		}
		a.Chat.Log.Warn("answer_refused_once", "session_id", r.ID.String(), "way", string(w), "error", err.Error())
		refusal = err
	}
	return a.giveUp(ctx, r, p, refusal)
}

// sendBy shows a part in one way.
func (a *Answers) sendBy(ctx context.Context, r views.Session, p render.Part, w way) (err error) {
	m := outbox.Message{To: r.Conversation, Text: p.Text, Session: r.ID, Rank: a.rank(r)}
	switch w {
	case byFile:
		return a.sendFile(ctx, r, p)
	case byEntities:
		return a.deliverAll(ctx, r, visibleParts(render.Entities{}.Render(p.Rich, HeadingRoom)))
	case byRich:
		m.Rich = p.Rich
	}
	_, err = a.Sender.Send(ctx, m)
	return err
}

func (a *Answers) deliverAll(ctx context.Context, r views.Session, parts []render.Part) error {
	for _, p := range parts {
		if err := a.deliver(ctx, r, p); err != nil {
			return err
		}
	}
	return nil
}

// sendFile sends a part as a file: the file of the part, or a file of its text.
func (a *Answers) sendFile(ctx context.Context, r views.Session, p render.Part) error {
	f, caption := render.AsFile(p, "answer"), render.Text{}
	if p.File != nil {
		f, caption = *p.File, p.Text
	}
	_, err := a.Sender.SendFile(ctx, outbox.File{To: r.Conversation, Name: f.Name, Caption: caption,
		Body: bytes.NewReader(f.Data), Size: int64(len(f.Data)), Photo: f.Photo, Session: r.ID, Rank: a.rank(r)})
	return err
}

// giveUp records that a part cannot be shown, and says so in the chat. The caption of a file is
// shown without the file.
func (a *Answers) giveUp(ctx context.Context, r views.Session, p render.Part, why error) error {
	a.Chat.Log.Error("answer_refused", "session_id", r.ID.String(), "error", why.Error())
	if p.File != nil && !p.Text.Blank() {
		if err := a.deliver(ctx, r, render.Part{Text: p.Text}); err != nil {
			return err
		}
	}
	return a.postMarker(ctx, r)
}

// postMarker stands where a part of an answer is missing.
func (a *Answers) postMarker(ctx context.Context, r views.Session) error {
	desk := a.Sessions.Attach(r.ID)
	text := a.Chat.Words.Say(i18n.PartNotShown, i18n.Args{"Name": r.Name, "Command": desk})
	return a.Chat.PostMessage(ctx, outbox.Message{To: r.Conversation, Text: chat.Marked(text, desk),
		Session: r.ID, Rank: a.rank(r)})
}

// rank is where a session's messages stand among those of its chat.
func (a *Answers) rank(r views.Session) outbox.Rank {
	if a.InFull(r) {
		return outbox.Now
	}
	return outbox.Later
}
