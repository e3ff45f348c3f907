package groups

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// PersonLeft tells the others in their private chats that an allowed person is no longer in a group: the list of people still names
// the person, who goes on reading and writing in private.
func (g *Groups) PersonLeft(ctx context.Context, m *models.Message) error {
	who := m.LeftChatMember
	if !g.chat.Book.IsAllowed(who.ID) || !g.chat.Book.InGroup(m.Chat.ID) {
		return nil
	}
	id := strconv.FormatInt(who.ID, 10)
	var errs []error
	for _, to := range g.chat.Book.PrivateChats() {
		if to.ChatID == who.ID {
			continue
		}
		said := g.chat.In(to).Text(i18n.GroupPersonLeft, i18n.Args{"Person": chat.PersonName(who.FirstName), "ID": render.Code(id),
			"Name": render.Bold(chat.Head(chat.OneLine(m.Chat.Title), shownTitle))})
		errs = append(errs, g.chat.Post(ctx, card.Content{To: to, Text: said}))
	}
	return errors.Join(errs...)
}
