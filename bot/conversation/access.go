package conversation

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/go-telegram/bot/models"

	"ccbot/internal/address"
)

// Access says who may speak.
type Access struct{ lists atomic.Pointer[Lists] }

// Lists are those who may speak.
type Lists struct {
	People map[int64]bool
	Groups map[int64]bool // groups in which those people may speak; private chats need none
}

// Admit makes these the lists, also while the program runs: whoever is not on them is heard no more.
func (a *Access) Admit(l Lists) { a.lists.Store(&l) }

// IsAllowed reports whether a person is on the list.
func (a *Access) IsAllowed(person int64) bool { return a.lists.Load().People[person] }

// Several reports whether more than one person may speak.
func (a *Access) Several() bool { return len(a.lists.Load().People) > 1 }

// ListsGroup reports whether a group is on the list by this very number.
func (a *Access) ListsGroup(chat int64) bool { return a.lists.Load().Groups[chat] }

// Hears reports whether a person may speak in a chat: an allowed person, in a private chat or in an
// allowed group. Anybody else gets nothing at all: no answer, no reaction, not even the end of a
// tap's waiting.
func (b *Book) Hears(person int64, chat models.Chat) bool {
	return b.IsAllowed(person) && (chat.Type == models.ChatTypePrivate || b.InGroup(chat.ID))
}

// MayShow reports whether a conversation still belongs to people who are allowed. People who were
// taken off the list get nothing more.
func (b *Book) MayShow(to address.Conversation) bool {
	return b.IsAllowed(to.ChatID) || b.InGroup(to.ChatID)
}

// InGroup reports whether a chat is an allowed group, by any number that the group has had.
func (b *Book) InGroup(chat int64) bool {
	return slices.ContainsFunc(b.Aliases.Numbers(chat), b.ListsGroup)
}

// PrivateChats are the private chats that are known of allowed people, in a fixed order.
func (b *Book) PrivateChats() (all []address.Conversation) {
	known := b.All()
	for _, r := range b.Records.List() {
		known = append(known, r.Conversation)
	}
	for _, to := range known {
		one := address.Conversation{ChatID: to.ChatID}
		if b.IsAllowed(to.ChatID) && !slices.Contains(all, one) {
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
