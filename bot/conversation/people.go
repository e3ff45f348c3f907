package conversation

import (
	"errors"
	"maps"
	"slices"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/internal/address"
)

// People holds what is known of the people of a group.
type People struct {
	// Wrote has the @names of the allowed people who have written there, by their ids; empty: a
	// person without one.
	Wrote map[int64]string `json:"wrote,omitempty"`
	Told  bool             `json:"told,omitempty"` // the group knows which texts are no prompts, by its present choice
	// Names has the names that allowed people have chosen for themselves, by their ids, as they were
	// when a person last wrote or tapped in the chat.
	Names map[int64]string `json:"names,omitempty"`
}

// NoteName stores the name of a person who acts in a chat, where several people may.
func (b *Book) NoteName(chat int64, u *models.User) error {
	at := address.Conversation{ChatID: chat}
	if !b.Several() || u.FirstName == "" || b.read(at).People.Names[u.ID] == u.FirstName {
		return nil
	}
	return b.change(at, func(f *file) {
		if f.People.Names = maps.Clone(f.People.Names); f.People.Names == nil {
			f.People.Names = make(map[int64]string)
		}
		f.People.Names[u.ID] = u.FirstName
	})
}

// noteSpeaker stores who has written a prompt to a session. Two people are enough to know that
// there are several.
func (f *file) noteSpeaker(id uuid.UUID, by int64) {
	if was := f.Speakers[id]; by != 0 && len(was) < 2 && !slices.Contains(was, by) {
		f.Speakers[id] = append(slices.Clone(was), by)
	}
}

// OthersSpeak reports whether another person than by has written a prompt to a session, anywhere.
func (c *Store) OthersSpeak(id uuid.UUID, by int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.kept {
		if slices.ContainsFunc(f.Speakers[id], func(one int64) bool { return one != by }) {
			return true
		}
	}
	return false
}

// NoteAsker stores whose prompt has begun the last turn of a session; 0: nobody's of the chat.
func (c *Store) NoteAsker(to address.Conversation, id uuid.UUID, by int64) error {
	var errs []error
	for _, at := range c.All() {
		if was := c.read(at).Askers[id]; was != 0 && (at != to || by == 0) {
			errs = append(errs, c.change(at, func(f *file) { delete(f.Askers, id) }))
		}
	}
	if by != 0 && c.read(to).Askers[id] != by {
		errs = append(errs, c.change(to, func(f *file) { f.Askers[id] = by }))
	}
	return errors.Join(errs...)
}

// AskerOf returns the person whose prompt has begun the last turn of a session; 0: nobody is known.
func (c *Store) AskerOf(id uuid.UUID) (by int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.kept {
		if by = f.Askers[id]; by != 0 {
			return by
		}
	}
	return 0
}

// NameOf returns the name of a person, as the private chat has it, or else a group; empty: no chat
// has it.
func (c *Store) NameOf(person int64) (name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, f := range c.kept {
		if one := f.People.Names[person]; one != "" && (name == "" || at.ChatID == person) {
			name = one
		}
	}
	return name
}

// NotePerson stores that an allowed person has written in a group. A private chat has one person.
func (c *Store) NotePerson(chat int64, u *models.User) error {
	at := address.Conversation{ChatID: chat}
	if was, known := c.read(at).People.Wrote[u.ID]; chat > 0 || known && was == u.Username {
		return nil
	}
	return c.change(at, func(f *file) {
		if f.People.Wrote = maps.Clone(f.People.Wrote); f.People.Wrote == nil {
			f.People.Wrote = make(map[int64]string)
		}
		f.People.Wrote[u.ID] = u.Username
	})
}

// PeopleOf returns the @names of the people who have written in a group and still may, by their ids.
func (b *Book) PeopleOf(chat int64) map[int64]string {
	all := maps.Clone(b.read(address.Conversation{ChatID: chat}).People.Wrote)
	maps.DeleteFunc(all, func(id int64, _ string) bool { return !b.IsAllowed(id) })
	return all
}

// PeopleTold reports whether a group was told which texts are prompts.
func (c *Store) PeopleTold(chat int64) bool {
	return c.read(address.Conversation{ChatID: chat}).People.Told
}

// NotePeopleTold stores that a group was told which texts are prompts.
func (c *Store) NotePeopleTold(chat int64) error {
	return c.change(address.Conversation{ChatID: chat}, func(f *file) { f.People.Told = true })
}
