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
)

const (
	unread = "unread" // the page of a file that is left unread
	again  = "again"
)

// file is the view of that page.
type file struct {
	Path string `json:"path"`
}

// unreadPage shows that a file of an agent is left unread, and reads it again.
func (d *Computer) unreadPage(figures func(ctx context.Context) health.Figures) chat.Page {
	draw := func(ctx context.Context, v chat.Visit) (chat.Screen, error) {
		p, at := d.chat.In(v.To), chat.ViewAt[file](v.Rest)
		path := i18n.Args{"Path": p.Short(at.Path)}
		if !slices.Contains(figures(ctx).Unread, at.Path) {
			return chat.Screen{Text: render.Plain(p.Say(i18n.FileReadAgain, path))}, nil
		}
		return chat.Screen{Text: render.Plain(chat.Warning + p.Say(i18n.FileUnread, path)),
			Options: [][]card.Option{{p.Option(i18n.ButtonTryAgain, chat.Does(again), outbox.Style(""))}}}, nil
	}
	do := func(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
		if what == again {
			d.ReadAgain(chat.ViewAt[file](v.Rest).Path)
		}
		return chat.Answer{}, "", nil
	}
	return chat.Page{Draw: draw, Do: do}
}

// FileUnread says in each private chat that a file of an agent is left unread.
func (d *Computer) FileUnread(ctx context.Context, path string) (err error) {
	for _, to := range d.chat.Book.PrivateChats() {
		err = errors.Join(err, d.chat.Pages.Open(ctx, chat.Incoming{Message: conversation.Message{To: to}, From: to.ChatID}, chat.Address(unread, file{path})))
	}
	return err
}
