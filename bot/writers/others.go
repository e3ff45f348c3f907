package writers

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/i18n"
)

// Others are what people run beside the agents of ccbot: writers of a session's conversation, and
// windows that belong to no session.
type Others struct {
	chat       *chat.Chat
	starter    control.Starter
	ender      control.Ender
	neighbours desk.Neighbours
	windows    desk.Windows
	resume     func(ctx context.Context, q chat.Resume) (back bool, err error)
	follow     func(r views.Session)
	conflicts  chat.Cards[shown]
	lists      chat.Cards[[]desk.ID] // of windows, and questions about one
}

// The kinds of the cards.
const (
	conflictKind = "writers"
	windowKind   = "windows"
)

// New returns the Others of a chat. resume resumes a session, or tells why not; follow has what is new
// of a session shown.
func New(c *chat.Chat, s control.Starter, e control.Ender, n desk.Neighbours, w desk.Windows,
	resume func(ctx context.Context, q chat.Resume) (back bool, err error),
	follow func(r views.Session)) *Others {
	return &Others{chat: c, starter: s, ender: e, neighbours: n, windows: w,
		resume: resume, follow: follow, conflicts: chat.NewCards[shown](c, conflictKind),
		lists: chat.NewCards[[]desk.ID](c, windowKind)}
}

// Feature is what the roof knows of Others.
func (o *Others) Feature() chat.Feature {
	return chat.Feature{
		Name: "writers",
		Cards: map[string]chat.OnTap{
			conflictKind: o.conflicts.OnTap(o.tap), windowKind: o.lists.OnTap(o.tapWindow)},
		News: []chat.Teller{chat.Tells(o.tellWriters), chat.Tells(o.tellTransferred)},
	}
}

// tellWriters tells that somebody else writes the conversation of a session.
func (o *Others) tellWriters(ctx context.Context, r views.Session, n news.OtherWriters) error {
	if len(n) == 0 {
		p := o.chat.In(r.Conversation)
		return o.chat.For(r.ID).Post(ctx, r.Conversation, p.Text(i18n.GhostUnseen, p.StateArgs(r)), nil)
	}
	k := writerAfterEnd
	if r.Live {
		k = otherWriter
	}
	return o.post(ctx, conflict{k, chat.Resume{Session: r, To: r.Conversation}, n}, true)
}

// Refused tells that a session is not resumed because of writers.
func (o *Others) Refused(ctx context.Context, q chat.Resume, found []desk.Writer) error {
	return o.post(ctx, conflict{resumeRefused, q, found}, false)
}

func (o *Others) post(ctx context.Context, c conflict, sounds bool) error {
	look := o.look(c, false)
	look.Text, look.Sounds = c.resume.Above(look.Text), sounds
	return o.conflicts.Post(ctx, look, c.shown())
}

// tellTransferred lets a session take the place of the session whose conversation it goes on with,
// and tells so where nobody has asked for it.
func (o *Others) tellTransferred(ctx context.Context, r views.Session, n news.Transferred) error {
	if n.From != uuid.Nil {
		if err := o.chat.Book.ReplaceCurrent(ctx, n.From, r.ID); err != nil {
			return err
		}
		o.follow(views.Session{ID: n.From}) // which has nothing to read any more
	}
	o.follow(r)
	if n.Asked {
		return nil
	}
	return o.tellAdopted(ctx, r, r.Conversation)
}
