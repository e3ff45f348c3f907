package conversation

import (
	"cmp"
	"maps"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/address"
)

// maxMessages is how many messages of a conversation are known: whose an older one is, is unknown.
const maxMessages = 1000

// messages are the newest messages of a conversation, by the session that they belong to; those of
// uuid.Nil are the bot's own.
type messages map[uuid.UUID][]int

// note keeps whose a message is, and forgets the oldest message of too many.
func (m messages) note(message int, id uuid.UUID) {
	for owner, all := range m {
		m[owner] = slices.DeleteFunc(all, func(one int) bool { return one == message })
	}
	m[id] = append(m[id], message)
	slices.Sort(m[id])
	maps.DeleteFunc(m, func(_ uuid.UUID, all []int) bool { return len(all) == 0 })
	count := 0
	for _, all := range m {
		count += len(all)
	}
	if count > maxMessages {
		first := func(a, b uuid.UUID) int { return cmp.Compare(m[a][0], m[b][0]) }
		oldest := slices.MinFunc(slices.Collect(maps.Keys(m)), first)
		m[oldest] = m[oldest][1:]
	}
}

// NoteMessage keeps which session a message belongs to: a message of the bot, or a person's prompt.
// With uuid.Nil it belongs to none.
func (c *Store) NoteMessage(to address.Conversation, message int, id uuid.UUID) error {
	if message <= 0 {
		return nil
	}
	return c.change(to, func(f *file) { f.Messages.note(message, id) })
}

// SessionOf is the session that a message belongs to; false: it belongs to none, or that is unknown.
func (c *Store) SessionOf(to address.Conversation, message int) (uuid.UUID, bool) {
	id, known := c.ownerOf(to, message)
	return id, known && id != uuid.Nil
}

// ownerOf is the session that a message belongs to, or uuid.Nil for none; false: that is unknown.
func (c *Store) ownerOf(to address.Conversation, message int) (uuid.UUID, bool) {
	f := c.read(to)
	for id, all := range f.Messages {
		if slices.Contains(all, message) {
			return id, true
		}
	}
	return uuid.Nil, false
}
