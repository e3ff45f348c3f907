package groups

import (
	"context"
	"errors"

	"github.com/go-telegram/bot/models"

	"ccbot/i18n"
)

// Anonymous says once in the private chats that nobody is heard who writes in a group's name, and how
// to write with one's own. It says nothing in the group: Telegram names no person, so it may be
// anybody's message.
func (s *Shut) Anonymous(ctx context.Context, group models.Chat) (err error) {
	id, _ := s.chat.Book.Aliases.In(group.ID, 0)
	if s.chat.Book.AnonymousSaid(id) {
		return nil
	}
	said := false
	for _, to := range s.chat.Book.PrivateChats() {
		failed := s.chat.Say(ctx, to, s.chat.In(to).Say(i18n.GroupAnonymous, i18n.Args{"Name": group.Title}))
		said, err = said || failed == nil, errors.Join(err, failed)
	}
	if said { // a repetition for the sake of another chat would reach this one again
		return errors.Join(err, s.chat.Book.NoteAnonymous(id))
	}
	return err
}
