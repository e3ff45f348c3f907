package conversation

import (
	"cmp"
	"slices"

	"github.com/go-telegram/bot/models"

	"ccbot/internal/address"
)

// Access says who may speak. The lists do not change while the program runs.
type Access struct {
	People map[int64]bool
	Groups map[int64]bool // groups in which those people may speak; private chats need none
}

// Hears reports whether a person may speak in a chat: an allowed person, in a private chat or in an
// allowed group. Anybody else gets nothing at all: no answer, no reaction, not even the end of a
// tap's waiting.
func (b *Book) Hears(person int64, chat models.Chat) bool {
	return b.People[person] && (chat.Type == models.ChatTypePrivate || b.InGroup(chat.ID))
}

// MayShow reports whether a conversation still belongs to people who are allowed. People who were
// taken off the list get nothing more.
func (b *Book) MayShow(to address.Conversation) bool {
	return b.People[to.ChatID] || b.InGroup(to.ChatID)
}

// InGroup reports whether a chat is an allowed group, by any number that the group has had.
func (b *Book) InGroup(chat int64) bool {
	return slices.ContainsFunc(b.Aliases.Numbers(chat), func(one int64) bool { return b.Groups[one] })
}

// PrivateChats are the private chats that are known of allowed people, in a fixed order.
func (b *Book) PrivateChats() (all []address.Conversation) {
	known := b.All()
	for _, r := range b.Records.List() {
		known = append(known, r.Conversation)
	}
	for _, to := range known {
		one := address.Conversation{ChatID: to.ChatID}
		if b.People[to.ChatID] && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, compare)
	return all
}

// compare orders conversations by chat and topic.
func compare(a, b address.Conversation) int {
	return cmp.Or(cmp.Compare(a.ChatID, b.ChatID), cmp.Compare(a.ThreadID, b.ThreadID))
}
