package longtext

import (
	"context"
	"errors"
	"io/fs"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/clip"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// kind is the kind of the cards that offer the rest of a text.
const kind = "rest"

// begins is the number of UTF-16 units that a file shows of its text.
const begins = 700

// Transcripts opens long texts.
type Transcripts interface {
	Words(ctx context.Context, at talk.Cursor, rest talk.Rest, beyond bool) (folders.File, error)
}

// Texts shows long texts.
type Texts struct {
	chat        *chat.Chat
	transcripts Transcripts
	group       guard.Group // sends the rests
	cards       chat.Cards[rest]
}

// New returns Texts.
func New(c *chat.Chat, t Transcripts) *Texts {
	return &Texts{chat: c, transcripts: t, cards: chat.NewCards[rest](c, kind)}
}

// Feature describes the feature to the dispatcher.
func (x *Texts) Feature() chat.Feature {
	return chat.Feature{Name: "longtext", Cards: map[string]chat.OnTap{kind: x.cards.OnTap(x.tap)}, Run: func(ctx context.Context) error {
		return x.group.Run(ctx, func(p *guard.Panic) { x.chat.Log.Error("rest_crashed", logkey.Panic, p.Error(), logkey.Stack, p.Stack) })
	}}
}

// rest is a text that the chat does not have in full.
type rest struct {
	Session uuid.UUID   `json:"session"`
	At      talk.Cursor `json:"at"`
	Rest    talk.Rest   `json:"rest"`
	Name    string      `json:"name"` // of its file
}

// names are the files that long texts become.
var names = map[talk.Kind]string{talk.Text: "answer.md", talk.Thinking: "thoughts.md", talk.LocalOutput: "output.txt",
	talk.TooLong: "line.jsonl"}

// Parts returns the chat's parts of an item with a Rest: the beginning of its text as a file and,
// if there is more, a mark. They leave room for a heading. Other kinds of items than texts have no
// parts.
func (x *Texts) Parts(r port.Session, item talk.Item) (parts []render.Part) {
	left := rest{r.ID, item.At, *item.Rest, names[item.Kind]}
	if left.Name == "" {
		return nil
	}
	left.At.Part, left.At.Form, left.At.Joined = 0, "", 0
	left.Rest.Most = min(left.Rest.Most, outbox.MaxFile)
	p := x.chat.In(r.Conversation)
	said := i18n.Args{"Name": r.Name, "Size": p.Size(left.Rest.Length), "Missing": p.Size(left.Rest.Length - left.Rest.Most)}
	if item.Kind == talk.TooLong {
		return []render.Part{{Text: p.Text(i18n.LineTooLong, said), More: left}}
	}
	if item.Kind == talk.LocalOutput { // it may end a message that has grown with its command
		shown := render.Pre(clip.Bytes(item.Text, render.Limit, "…"), "")
		parts = append(parts, render.Part{Text: shown.Begin(render.Limit / 2)})
	}
	open := func(ctx context.Context) (render.Content, error) {
		return x.open(ctx, left, false)
	}
	begin := render.Markdown(clip.Bytes(item.Text, 4*begins, "…"))
	parts = append(parts, render.Part{Text: begin.Begin(begins), File: &render.File{Name: left.Name, Open: open}})
	if left.Rest.Length > left.Rest.Most {
		parts = append(parts, render.Part{Text: p.Text(i18n.TextTooLong, said), More: left})
	}
	return parts
}

// Offer posts a mark, which is on disk when Offer returns. For any other part it returns false.
func (x *Texts) Offer(ctx context.Context, r port.Session, p render.Part, rank outbox.Rank) (is bool, err error) {
	left, is := p.More.(rest)
	if !is {
		return false, nil
	}
	return true, x.cards.Post(ctx, card.Content{To: r.Conversation, Session: left.Session, Text: p.Text, Rank: rank,
		Options: chat.Rows(1, x.chat.In(r.Conversation).Option(i18n.ButtonGetIt, "get", outbox.Primary))}, left)
}

// tap sends the rest.
func (x *Texts) tap(_ context.Context, t chat.Tap, left rest) (chat.Answer, error) {
	return chat.Do(func(context.Context) error {
		x.group.Add(func(ctx context.Context) {
			if err := x.send(ctx, t, left); err != nil {
				x.chat.Log.Warn("rest_not_sent", logkey.SessionID, left.Session.String(), logkey.Error, err)
			}
		})
		return nil
	})
}

// open opens a part of a text.
func (x *Texts) open(ctx context.Context, left rest, beyond bool) (render.Content, error) {
	f, err := x.chat.Bodies.Open(ctx, func(ctx context.Context) (folders.File, error) {
		return x.transcripts.Words(ctx, left.At, left.Rest, beyond)
	})
	return render.Content{Body: f, Size: f.Size}, err
}

func (x *Texts) send(ctx context.Context, t chat.Tap, left rest) error {
	fail := func(word i18n.Key, size int64) error {
		p := x.chat.In(t.To)
		said := i18n.Args{"Size": p.Size(size), "Limit": p.Size(outbox.MaxFile)}
		return x.chat.Fail(ctx, t.To, t.Message, p.Text(word, said), nil)
	}
	content, err := x.open(ctx, left, true)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		return errors.Join(err, fail(i18n.RestGone, 0))
	case err != nil:
		return errors.Join(err, fail(i18n.RestFailed, 0))
	}
	defer content.Body.Close()
	switch {
	case content.Size == 0: // the text in the transcript is longer
		return fail(i18n.RestNone, 0)
	case content.Size > outbox.MaxFile:
		return fail(i18n.RestTooBig, content.Size)
	}
	_, err = x.chat.Sender.SendFile(ctx, outbox.File{To: t.To, Session: left.Session, ReplyTo: t.Message, Name: left.Name,
		Body: content.Body, Size: content.Size})
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, fail(i18n.RestFailed, content.Size))
	}
	return err
}
