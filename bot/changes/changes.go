package changes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"path"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/diffs"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// Changes shows the changes of sessions.
type Changes struct {
	chat  *chat.Chat
	diffs diffs.Diffs
	cards chat.Cards[subject]
}

// subject is whose changes a card shows, and since which turn; an empty turn: the card is about the session.
type subject struct {
	Session uuid.UUID   `json:"session"`
	Turn    diffs.Since `json:"turn,omitempty"`
	Posted  time.Time   `json:"posted,omitzero"`
}

// view is a page of a card: of the list of files, or of the hunks of one of them. An option's value is the view that it
// leads to.
type view struct {
	Since diffs.Since `json:"since,omitempty"`
	Page  int         `json:"page,omitempty"` // of the list
	File  string      `json:"file,omitempty"` // whose hunks are shown; empty: the list is
	Part  int         `json:"part,omitempty"` // of the hunks
	Save  bool        `json:"save,omitempty"` // send the hunks as a file, and show the same
}

const kind = "changes"

// New returns the feature of a chat.
func New(c *chat.Chat, d diffs.Diffs) *Changes {
	return &Changes{chat: c, diffs: d, cards: chat.NewCards[subject](c, kind)}
}

// Feature is what the roof knows of this package.
func (c *Changes) Feature() chat.Feature {
	f := chat.Feature{Name: "changes", Cards: map[string]chat.OnTap{kind: c.cards.OnTap(c.tap)}}
	c.chat.ByName(&f, chat.Command{Name: "changes"}, func(views.Session) bool { return true },
		func(ctx context.Context, in chat.Incoming, r views.Session) error {
			return c.post(ctx, in.To, subject{Session: r.ID}, "")
		})
	return f
}

// Show shows what has changed in a session's folder since a moment. Two taps are one message.
func (c *Changes) Show(ctx context.Context, in chat.Incoming, r views.Session) error {
	defer c.cards.Hold()()
	key := ""
	for _, shown := range c.cards.List() {
		p := shown.Payload
		if p.Session == r.ID && p.Turn == in.Since && shown.Look.To == in.To && c.chat.Now().Sub(p.Posted) < chat.StillThere {
			key = shown.Key
		}
	}
	return c.post(ctx, in.To, subject{Session: r.ID, Turn: in.Since}, key)
}

// post shows a subject in the card of a key, or in a new one below.
func (c *Changes) post(ctx context.Context, to outbox.Conversation, s subject, key string) error {
	look, err := c.look(ctx, to, s, view{Since: s.Turn})
	if err != nil {
		r, _ := c.chat.Book.Records.Get(s.Session)
		return c.chat.Explain(ctx, to, c.chat.In(to).Failure(r, err))
	}
	s.Posted = c.chat.Now()
	if key != "" {
		return c.cards.Redraw(ctx, key, look, s)
	}
	return c.cards.Post(ctx, look, s)
}

// tap turns to the view that a button names.
func (c *Changes) tap(ctx context.Context, t chat.Tap, s subject) (chat.Answer, error) {
	var v view
	if err := json.Unmarshal([]byte(t.Card.Option), &v); err != nil {
		return chat.Answer{}, err
	}
	v.File, _ = url.PathUnescape(v.File)
	if _, ok := c.chat.Book.Records.Get(s.Session); !ok {
		return c.cards.Over(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		if v.Save {
			return c.send(ctx, t, s, v)
		}
		look, err := c.look(ctx, t.To, s, v)
		if err != nil {
			look, err = c.failed(ctx, t, s, v, err)
		}
		if err != nil {
			return err
		}
		return c.cards.Redraw(ctx, t.Card.Key, look, s)
	})
}

// failed shows in the card why there is nothing to show. A file that is as it was has left the list.
func (c *Changes) failed(ctx context.Context, t chat.Tap, s subject, v view, why error) (card.Look, error) {
	if refusal.Is(why, refusal.Unchanged) {
		note := c.chat.In(t.To).Say(i18n.ChangesUnchanged, i18n.Args{"Path": shortPath(v.File)})
		look, err := c.look(ctx, t.To, s, view{Since: v.Since, Page: v.Page})
		if err == nil {
			look.Text = chat.Paragraphs(render.Plain(note), look.Text)
			return look, nil
		}
		why = err
	}
	r, _ := c.chat.Book.Records.Get(s.Session)
	f := c.chat.In(t.To).Failure(r, why)
	if f.Internal {
		return card.Look{}, why
	}
	refresh := words{c.chat.In(t.To)}.option(i18n.ButtonRefresh, view{Since: v.Since, Page: v.Page})
	return card.Look{To: t.To, Session: s.Session, Text: f.Text, Options: chat.Rows(1, refresh)}, nil
}

// look is a view as a message.
func (c *Changes) look(ctx context.Context, to outbox.Conversation, s subject, v view) (card.Look, error) {
	look := card.Look{To: to, Session: s.Session}
	if v.File != "" {
		p, err := c.diffs.Patch(ctx, s.Session, v.Since, v.File)
		if err != nil {
			return card.Look{}, err
		}
		look.Text, look.Options = words{c.chat.In(to)}.hunks(v, p)
		return look, nil
	}
	all, err := c.diffs.Changes(ctx, s.Session, v.Since)
	if err != nil {
		return card.Look{}, err
	}
	r, _ := c.chat.Book.Records.Get(s.Session)
	look.Text, look.Options = words{c.chat.In(to)}.list(r, s, v, all)
	return look, nil
}

// sendFor bounds a file's way into the chat.
const sendFor = 2 * time.Minute

// send sends all hunks of a file as one.
func (c *Changes) send(ctx context.Context, t chat.Tap, s subject, v view) error {
	p, err := c.diffs.Patch(ctx, s.Session, v.Since, v.File)
	if err != nil {
		r, _ := c.chat.Book.Records.Get(s.Session)
		if refusal.Is(err, refusal.Unchanged) {
			return c.chat.Tell(ctx, t, c.chat.In(t.To).Text(i18n.ChangesUnchanged, i18n.Args{"Path": shortPath(v.File)}))
		}
		return c.chat.Explain(ctx, t.To, c.chat.In(t.To).Failure(r, err))
	}
	f := p.File()
	caption := render.Code(shortPath(f.Path))
	if p.Cut {
		caption = chat.Lines(caption, render.Plain(c.chat.In(t.To).Say(i18n.ChangesCut)))
	}
	data := []byte("--- a/" + cmp.Or(f.From, f.Path) + "\n+++ b/" + f.Path + "\n" + p.Text)
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	_, err = c.chat.Upload(ctx, outbox.File{To: t.To, Name: glyph.Name(path.Base(f.Path)) + ".diff", Caption: caption, Session: s.Session,
		Body: bytes.NewReader(data), Size: int64(len(data)), ReplyTo: t.Message})
	return err
}

// option is a button with a word that leads to a view.
func (w words) option(word i18n.Key, v view) card.Option { return to(w.Say(word), v) }

func to(text string, v view) card.Option {
	v.File = url.PathEscape(v.File) // which may be no text
	value, _ := json.Marshal(v)     // of texts and numbers: it cannot fail
	return card.Option{Text: text, Value: string(value)}
}
