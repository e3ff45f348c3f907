package conversation

import (
	"cmp"
	"slices"

	"ccbot/internal/address"
)

// Bots holds what is known of the bots of a group, for one of its places. It uses the message
// numbers inside ccbot.
type Bots struct {
	// Others is the first message at which another bot was known in the group; 0 if none is known.
	// It is stored for the whole group, outside of topics.
	Others int    `json:"others,omitempty"`
	Picks  []Pick `json:"picks,omitempty"` // in the order of their messages
}

// Pick is a message by which a person has picked the bot that acts in a place.
type Pick struct {
	Message int  `json:"message"`
	Mine    bool `json:"mine"` // this bot was picked
}

// maxPicks bounds the picks of a place.
const maxPicks = 100

// OthersBefore reports whether another bot was known when a message was written.
func (b Bots) OthersBefore(message int) bool { return b.Others != 0 && b.Others <= message }

// PickBefore returns the pick that applies to a message; false if there is none.
func (b Bots) PickBefore(message int) (p Pick, known bool) {
	for _, one := range b.Picks {
		if one.Message <= message {
			p, known = one, true
		}
	}
	return p, known
}

// with returns b with a pick.
func (b Bots) with(p Pick) Bots {
	at, _ := slices.BinarySearchFunc(b.Picks, p.Message, func(one Pick, m int) int { return cmp.Compare(one.Message, m) })
	b.Picks = slices.Insert(slices.Clone(b.Picks), at, p)
	b.Picks = b.Picks[max(0, len(b.Picks)-maxPicks):]
	return b
}

// inNewChat returns b for a chat with new message numbers.
func (b Bots) inNewChat() (now Bots) {
	now.Others = min(b.Others, 1)
	if n := len(b.Picks); n > 0 {
		now.Picks = []Pick{{Mine: b.Picks[n-1].Mine}}
	}
	return now
}

// Bots returns the bots of a place.
func (c *Store) Bots(at address.Conversation) Bots { return c.read(at).Bots }

// NoteOthers stores that another bot is known in a group since a message.
func (c *Store) NoteOthers(chat int64, message int) error {
	return c.change(address.Conversation{ChatID: chat}, func(f *file) { f.Bots.Others = message })
}

// ResetBots forgets all picks of a group, because the bot may have missed some, and stores whether
// there are other bots.
func (c *Store) ResetBots(chat int64, others bool) error {
	for _, at := range c.All() {
		if at.ChatID == chat && len(c.Bots(at).Picks) > 0 {
			if err := c.change(at, func(f *file) { f.Bots.Picks = nil }); err != nil {
				return err
			}
		}
	}
	first := 0
	if others {
		first = 1
	}
	return c.NoteOthers(chat, first)
}

// NotePick stores the bot that a person has picked for a place. It ignores a pick that changes
// nothing.
func (c *Store) NotePick(at address.Conversation, p Pick) error {
	if was, known := c.Bots(at).PickBefore(p.Message); known && was.Mine == p.Mine {
		return nil
	}
	return c.change(at, func(f *file) { f.Bots = f.Bots.with(p) })
}
