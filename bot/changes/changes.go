package changes

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// Changes shows the changes of sessions.
type Changes struct {
	chat  *chat.Chat
	diffs folders.Diffs
}

const page = "changes"

// view is a page: the list of files, or the hunks of a file.
type view struct {
	Session uuid.UUID     `json:"session"`
	Turn    folders.Since `json:"turn,omitempty"` // of the message that opened the page; empty if it is about the session
	Since   folders.Since `json:"since,omitempty"`
	Page    int           `json:"page,omitempty"` // of the list
	File    string        `json:"file,omitempty"` // whose hunks are shown; empty for the list
	Part    int           `json:"part,omitempty"` // of the hunks
}

// address returns the address of a view.
func (v view) address() string { return chat.Address(page, v) }

// list returns the view of page n of the list.
func (v view) list(n int) view {
	return view{Session: v.Session, Turn: v.Turn, Since: v.Since, Page: n}
}

// part returns the view of part n of a file's hunks.
func (v view) part(file string, n int) view {
	return view{Session: v.Session, Turn: v.Turn, Since: v.Since, File: file, Part: n}
}

// save is the value of the button that sends a file's hunks as a file.
const save = "save"

// New returns the feature of a chat.
func New(c *chat.Chat, d folders.Diffs) *Changes { return &Changes{chat: c, diffs: d} }

// Feature describes the feature to the dispatcher.
func (c *Changes) Feature() chat.Feature {
	f := chat.Feature{Name: page, Pages: map[string]chat.Page{page: {Draw: c.draw, Do: c.do}}}
	c.chat.PageByName(&f, page, chat.AnySession)
	return f
}

// Show shows the changes in a session's folder since a moment. A second tap shows the same message.
func (c *Changes) Show(ctx context.Context, in chat.Incoming, r port.Session) error {
	return c.chat.Pages.Show(ctx, in, view{Session: r.ID, Turn: in.Since, Since: in.Since}.address())
}

// draw shows a view. An unchanged file is no longer in the list.
func (c *Changes) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	at, w := chat.ViewAt[view](v.Rest), words{c.chat.In(v.To)}
	r, ok := c.chat.Book.Records.Get(at.Session)
	if !ok {
		return chat.Screen{Text: render.Plain(w.Say(i18n.SessionGone))}, nil
	}
	s, note := chat.Screen{Session: r.ID}, ""
	if at.File != "" {
		p, err := c.diffs.Patch(ctx, r.ID, at.Since, at.File)
		if err == nil {
			s.Text, s.Options = w.hunks(at, p)
			return s, nil
		}
		if !refusal.Is(err, refusal.Unchanged) {
			s.Back = at.list(at.Page).address()
			return s, err
		}
		note = w.Say(i18n.ChangesUnchanged, i18n.Args{"Path": shortPath(at.File)})
		at = at.list(at.Page)
	}
	all, err := c.diffs.Changes(ctx, r.ID, at.Since)
	if err != nil {
		return s, err
	}
	s.Text, s.Options = w.list(r, at, all)
	s.Text = chat.Paragraphs(render.Plain(note), s.Text)
	return s, nil
}

// sendFor bounds the upload of a file.
const sendFor = 2 * time.Minute

// do sends all hunks of a file as one.
func (c *Changes) do(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	if what != save {
		return chat.Answer{}, "", nil
	}
	return chat.Answer{Then: func(ctx context.Context) error { return c.send(ctx, v, chat.ViewAt[view](v.Rest)) }}, "", nil
}

func (c *Changes) send(ctx context.Context, v chat.Visit, at view) error {
	p, err := c.diffs.Patch(ctx, at.Session, at.Since, at.File)
	if refusal.Is(err, refusal.Unchanged) { // the page shows it
		return nil
	}
	if err != nil {
		return err
	}
	f := p.File()
	caption := render.Code(shortPath(f.Path))
	if p.Cut {
		caption = chat.Lines(caption, render.Plain(c.chat.In(v.To).Say(i18n.ChangesCut)))
	}
	data := []byte("--- a/" + cmp.Or(f.From, f.Path) + "\n+++ b/" + f.Path + "\n" + p.Text)
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	_, err = c.chat.Sender.SendFile(ctx, outbox.File{To: v.To, Name: glyph.Name(path.Base(f.Path)) + ".diff", Caption: caption, Session: at.Session,
		Body: bytes.NewReader(data), Size: int64(len(data)), ReplyTo: v.Message})
	return err
}

// option returns a button that leads to a view.
func (w words) option(word i18n.Key, v view) card.Option { return to(w.Say(word), v) }

func to(text string, v view) card.Option {
	return card.Option{Text: text, Value: chat.ToPage(v.address())}
}
