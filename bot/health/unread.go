package health

import (
	"context"
	"errors"
	"slices"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/health"
	"ccbot/port"
	"ccbot/port/news"
)

const (
	unread = "unread" // the page of a skipped file
	again  = "again"
)

// file is the view of that page.
type file struct {
	Path string `json:"path"`
}

// unreadPage shows that a file of an agent is skipped, and reads it again.
func (c *Computer) unreadPage(figures func(ctx context.Context) health.Figures) chat.Page {
	draw := func(ctx context.Context, v chat.Visit) (chat.Screen, error) {
		p, at := c.chat.In(v.To), chat.ViewAt[file](v.Rest)
		path := i18n.Args{"Path": p.Short(at.Path)}
		if !slices.Contains(figures(ctx).Unread, at.Path) {
			return chat.Screen{Text: render.Plain(p.Say(i18n.FileReadAgain, path))}, nil
		}
		return chat.Screen{Text: render.Plain(chat.Warning + p.Say(i18n.FileUnread, path)),
			Options: [][]card.Option{{p.Option(i18n.ButtonTryAgain, again, outbox.Style(""))}}}, nil
	}
	do := func(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
		if what == again {
			c.ReadAgain(chat.ViewAt[file](v.Rest).Path)
		}
		return chat.Answer{}, "", nil
	}
	return chat.Page{Draw: draw, Do: do}
}

// mostPlaces is the number of places in which another machine reports one file.
const mostPlaces = 20

// errNoChat is returned if no chat can get the report.
var errNoChat = errors.New("no chat is known")

// fileUnread reports once in each conversation of its sessions that a file of an agent is skipped.
// If none of them may be shown, it reports it to the private chats. Only the chat's own machine
// reads it again at a tap.
func (c *Computer) fileUnread(ctx context.Context, r port.Session, n news.FileUnread) (err error) {
	var places []outbox.Conversation
	for _, to := range n.To {
		if c.chat.Book.MayShow(to) && !slices.Contains(places, to) {
			places = append(places, to)
		}
	}
	if len(places) == 0 || len(places) > mostPlaces && r.Machine != "" {
		places = c.chat.Book.PrivateChats()
	}
	if len(places) == 0 && r.Machine == "" {
		return errNoChat
	}
	for _, to := range places {
		if p := c.chat.In(to); r.Machine != "" {
			err = errors.Join(err, c.chat.Warn(ctx, to, 0, of(p, r, p.Text(i18n.FileUnread, i18n.Args{"Path": p.Short(n.Path)})), nil))
			continue
		}
		in := chat.Incoming{Message: conversation.Message{To: to}, From: to.ChatID}
		err = errors.Join(err, c.chat.Pages.Open(ctx, in, chat.Address(unread, file{n.Path})))
	}
	return err
}
