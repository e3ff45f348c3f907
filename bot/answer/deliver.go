package answer

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// HeadingRoom is kept free for the heading, in UTF-16 units: where a text is cut must not depend on
// whether the text has a heading, because a cursor counts the parts.
const HeadingRoom = 200

// Heading is the name above what a session shows that is not the current one.
func (a *Answers) Heading(r views.Session) render.Text {
	if a.Chat.Book.IsInFront(r) {
		return render.Text{}
	}
	return title(r)
}

// title is a session's name above what the session has said; empty for a blank name.
func title(r views.Session) render.Text {
	name := render.Bold(glyph.Name(r.Name)).Split(HeadingRoom - 2)
	if len(name) == 0 {
		return render.Text{}
	}
	return render.Join(name[0], render.Plain("\n"))
}

// headed puts a heading above a part.
func headed(name render.Text, p render.Part) render.Part {
	if p.Rich != "" && !name.Blank() {
		p.Rich = "**" + render.Literal(strings.TrimSpace(name.Text)) + "**\n\n" + p.Rich
	}
	p.Text = render.Join(name, p.Text)
	return p
}

// deliver shows a part in the best way that the Bot API takes: as a rich message, else as text with
// entities, which may be several messages, else as a file. The outbox itself tries a text once more
// without formatting, and a picture as a document. A part that is taken in no way is recorded and
// passed, so that the part holds nothing up. more, when set, gives the part as it has become when its
// turn comes.
func (a *Answers) deliver(ctx context.Context, r views.Session, p render.Part, more func() render.Part) error {
	ctx = context.WithoutCancel(ctx) // at a stop a call that is under way finishes
	sendText := func(ctx context.Context, r views.Session, _ render.Part) error {
		m := messageOf(r, p)
		if more != nil {
			m.More = func() outbox.Message { p = more(); return messageOf(r, p) }
		}
		_, err := a.Sender.Send(ctx, m)
		return err
	}
	ways := []func(context.Context, views.Session, render.Part) error{sendText, a.sendFile}
	switch {
	case p.File != nil:
		ways = ways[1:]
	case a.Limits.TakesRich() && p.Rich != "":
		ways[1] = a.sendEntities
	case p.Rich != "":
		ways = append(ways[:0], a.sendEntities)
	}
	var refused error
	for _, send := range ways {
		err := send(ctx, r, p)
		switch {
		case errors.Is(err, outbox.ErrNoRich) && !a.Limits.TakesRich():
			return errReadAgain // the parts are others now
		case !chat.IsRefused(err):
			return err
		}
		a.Chat.Log.Warn("answer_refused_once", "session_id", r.ID.String(), "error", err.Error())
		refused = err
	}
	a.Chat.Log.Error("answer_refused", "session_id", r.ID.String(), "error", refused.Error())
	if p.File != nil && !p.Text.Blank() {
		if err := a.deliver(ctx, r, render.Part{Text: p.Text}, nil); err != nil {
			return err
		}
	}
	return a.postMarker(ctx, r)
}

func (a *Answers) deliverAll(ctx context.Context, r views.Session, parts []render.Part) error {
	for _, p := range parts {
		if err := a.deliver(ctx, r, p, nil); err != nil {
			return err
		}
	}
	return nil
}

func messageOf(r views.Session, p render.Part) outbox.Message {
	return outbox.Message{To: r.Conversation, Text: p.Text, Rich: p.Rich, Session: r.ID, Rank: outbox.Talk}
}

func (a *Answers) sendEntities(ctx context.Context, r views.Session, p render.Part) error {
	return a.deliverAll(ctx, r, visibleParts(render.Entities{}.Render(p.Rich, HeadingRoom)))
}

// sendFile sends a part as a file: the file of the part, or a file of its text.
func (a *Answers) sendFile(ctx context.Context, r views.Session, p render.Part) error {
	f, caption := render.AsFile(p, "answer"), render.Text{}
	if p.File != nil {
		f, caption = *p.File, p.Text
	}
	_, err := a.Sender.SendFile(ctx, outbox.File{To: r.Conversation, Name: f.Name, Caption: caption,
		Body: bytes.NewReader(f.Data), Size: int64(len(f.Data)), Photo: f.Photo, Session: r.ID, Rank: outbox.Talk})
	return err
}

// postMarker stands where a part of an answer is missing.
func (a *Answers) postMarker(ctx context.Context, r views.Session) error {
	desk := a.Chat.Attach(r.ID)
	text := a.Chat.Words.Say(i18n.PartNotShown, i18n.Args{"Name": r.Name, "Command": desk})
	return a.Chat.For(r.ID).Post(ctx, r.Conversation, chat.Marked(text, desk), nil)
}
