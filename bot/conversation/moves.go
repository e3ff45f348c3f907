package conversation

import (
	"ccbot/internal/address"

	"github.com/google/uuid"
)

// Rehome makes what is known of one conversation known of another. What is known of the other
// already counts; messages of another chat are void, because the new chat numbers anew.
func (c *Store) Rehome(from, to address.Conversation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, err := c.readLocked(from)
	if err != nil || old.Version == 0 {
		return err
	}
	err = c.changeLocked(to, func(f *file) {
		if f.Current == uuid.Nil {
			f.Current = old.Current
		}
		f.Turns = append(f.Turns, old.Turns...)
		if from.ChatID == to.ChatID {
			f.Owners = old.Owners.before(f.Owners)
		}
	})
	if err != nil {
		return err
	}
	return c.removeLocked(from)
}

// before is r with the messages of newer behind its own.
func (r owners) before(newer owners) owners {
	all := r.clone()
	for _, e := range newer.messages {
		all.note(e.message, newer.sessions[e.session])
	}
	return all
}
