package answer

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// HeadingRoom is kept free for the heading, in UTF-16 units. A text is split at the same places
// with and without a heading, because a cursor counts the parts.
const HeadingRoom = 200

// Heading returns the name above the words of a session that is not the current one, or not that of
// everybody there.
func (a *Answers) Heading(r port.Session) render.Text {
	if a.Chat.Book.IsInFront(r) && !a.Chat.Book.IsShared(r.Conversation) {
		return render.Text{}
	}
	return title(r)
}

// title returns a session's name as a heading; empty for a blank name.
func title(r port.Session) render.Text {
	name := render.Bold(glyph.Name(r.Name)).Begin(HeadingRoom - 2)
	if name.Blank() {
		return name
	}
	return render.Join(name, render.Plain("\n"))
}

// headed returns p with a heading above it.
func headed(name render.Text, p render.Part) render.Part {
	if p.Rich != "" && !name.Blank() {
		p.Rich = "**" + render.Literal(strings.TrimSpace(name.Text)) + "**\n\n" + p.Rich
	}
	p.Text = render.Join(name, p.Text)
	return p
}

// Elsewhere adds a session's name above a message made for the session's topic that is sent
// elsewhere.
func (a *Answers) Elsewhere(m outbox.Message) outbox.Message {
	r, _ := a.Chat.Book.Records.Get(m.Session)
	p := headed(title(r), render.Part{Text: m.Text, Rich: m.Rich})
	m.Text, m.Rich = p.Text, p.Rich
	return m
}

// Repeated says above a message that it may be in the chat already.
func (a *Answers) Repeated(m outbox.Message) outbox.Message {
	p := headed(render.Plain(a.Chat.In(m.To).Say(i18n.PerhapsRepeated)+"\n"), render.Part{Text: m.Text, Rich: m.Rich})
	m.Text, m.Rich = p.Text, p.Rich
	return m
}

// outgoingPart is a part on its way to the chat of a session.
type outgoingPart struct {
	session port.Session
	part    render.Part
	rank    outbox.Rank
	written time.Time                                                    // time of the line in the transcript; zero if it is not an answer
	ends    chat.Occasion                                                // occasion of its sound; empty if it is silent
	next    talk.Cursor                                                  // the position after it, which is stored with its message
	more    func() (p render.Part, ends chat.Occasion, next talk.Cursor) // if set, returns the part that is sent when its turn comes
}

// deliver shows a part in the best form that the Bot API accepts: a rich message, otherwise text
// with entities, possibly several messages, otherwise a file. The outbox itself retries a text
// without formatting, and a picture as a document. A part that is refused in every form is recorded
// and skipped, so it does not block the next.
func (a *Answers) deliver(ctx context.Context, l outgoingPart) error {
	ctx = context.WithoutCancel(ctx) // at a stop a running call finishes
	if is, err := a.Long.Offer(ctx, l.session, l.part, l.rank); is {
		return err
	}
	ways := []func(context.Context, *outgoingPart) error{a.sendText, a.sendFile}
	switch {
	case l.part.File != nil:
		ways = ways[1:]
	case a.Sender.TakesRich() && l.part.Rich != "":
		ways[1] = a.sendEntities
	case l.part.Rich != "":
		ways = append(ways[:0], a.sendEntities)
	}
	var refused error
	for _, send := range ways {
		err := send(ctx, &l)
		switch {
		case errors.Is(err, outbox.ErrNoRich) && !a.Sender.TakesRich():
			return errReadAgain // the parts have changed
		case !chat.IsRefused(err):
			return err
		}
		a.Chat.Log.Warn("answer_refused_once", logkey.SessionID, l.session.ID.String(), logkey.Error, err)
		refused = err
	}
	a.Chat.Log.Error("answer_refused", logkey.SessionID, l.session.ID.String(), logkey.Error, refused)
	if l.part.File != nil && !l.part.Text.Blank() {
		if err := a.deliver(ctx, outgoingPart{session: l.session, part: render.Part{Text: l.part.Text}, rank: l.rank, ends: l.ends}); err != nil {
			return err
		}
	}
	return a.postMarker(ctx, l.session)
}

// deliverAll shows parts as l is shown. Only the first part sounds: people read from there.
func (a *Answers) deliverAll(ctx context.Context, l outgoingPart, parts []render.Part) error {
	next := l.next
	for i, p := range parts {
		if l.part, l.next = p, (talk.Cursor{}); i == len(parts)-1 {
			l.next = next
		}
		if err := a.deliver(ctx, l); err != nil {
			return err
		}
		l.ends = ""
	}
	return nil
}

func (a *Answers) message(l *outgoingPart) outbox.Message {
	return outbox.Message{To: l.session.Conversation, Text: l.part.Text, Rich: l.part.Rich, Session: l.session.ID,
		Rank: l.rank, Sounds: a.Chat.Sounds(l.ends, l.session), Written: l.written, Cursor: l.next,
		PostIfClosed: true}
}

func (a *Answers) sendText(ctx context.Context, l *outgoingPart) error {
	m := a.message(l)
	if l.more != nil {
		m.More = func() outbox.Message {
			l.part, l.ends, l.next = l.more()
			return a.message(l)
		}
	}
	_, err := a.Sender.Send(ctx, m)
	if errors.Is(err, outbox.ErrShutOut) {
		return a.sendEntities(ctx, l)
	}
	return err
}

func (a *Answers) sendEntities(ctx context.Context, l *outgoingPart) error {
	return a.deliverAll(ctx, outgoingPart{session: l.session, rank: l.rank, written: l.written, ends: l.ends, next: l.next}, visibleParts(render.Entities(l.part.Rich, HeadingRoom)))
}

// sendFile sends a part as a file: its own file, or a file of its text.
func (a *Answers) sendFile(ctx context.Context, l *outgoingPart) error {
	f, caption := render.AsFile(l.part, "answer"), render.Text{}
	if l.part.File != nil {
		f, caption = *l.part.File, l.part.Text
	}
	out := outbox.File{To: l.session.Conversation, Name: f.Name, Caption: caption, Body: bytes.NewReader(f.Data), Size: int64(len(f.Data)),
		Photo: f.Photo, Session: l.session.ID, Rank: l.rank, Sounds: a.Chat.Sounds(l.ends, l.session), Written: l.written, Cursor: l.next}
	if f.Open != nil {
		content, err := f.Open(ctx)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
			return &outbox.Refused{Err: err}
		case err != nil:
			return err
		}
		defer content.Body.Close()
		out.Body, out.Size = content.Body, content.Size
	}
	_, err := a.Sender.SendFile(ctx, out)
	if refusal.Is(err, refusal.Unreachable) { // it is not Telegram that refuses
		return refusal.ErrUnreachable
	}
	return err
}

// postMarker posts the notice for a missing part, with the command that opens the terminal.
func (a *Answers) postMarker(ctx context.Context, r port.Session) error {
	text := a.Chat.In(r.Conversation).Text(i18n.PartNotShown, i18n.Args{"Name": r.Name, "Command": render.Code(r.Attach)})
	return a.Chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: text, Sounds: a.Chat.Sounds(chat.Fault, r)})
}
