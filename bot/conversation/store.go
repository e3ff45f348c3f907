package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/alias"
	"ccbot/internal/address"
	"ccbot/internal/spool"
)

// Store keeps one small file for each conversation.
type Store struct {
	Aliases *alias.Table // which groups have become which chats

	mu     sync.Mutex // held over the disk
	folder spool.Folder
	kept   map[address.Conversation]file // as they are on disk; never changed in place
}

// file is what is kept of one conversation.
type file struct {
	Version  int                `json:"version"`
	Current  uuid.UUID          `json:"current"`
	Messages messages           `json:"messages,omitempty"`
	Turns    map[uuid.UUID]Turn `json:"shown,omitempty"` // shown in full for one turn
	Unread   []ReadMark         `json:"had,omitempty"`   // how much is shown
}

// maxFile is the size of the largest file: a thousand messages of a thousand sessions.
const maxFile = 4 << 20

// Open opens the folder, making it if needed.
func Open(dir string) (*Store, error) {
	c := &Store{folder: spool.Folder{Path: dir, MaxSize: maxFile, Fsync: true},
		kept: make(map[address.Conversation]file)}
	if err := c.folder.Make(); err != nil {
		return nil, fmt.Errorf("open chats: %w", err)
	}
	var err error
	c.Aliases, err = alias.Open(c.folder)
	return c, err
}

func nameOf(to address.Conversation) string { return fmt.Sprintf("%d-%d.json", to.ChatID, to.ThreadID) }

// Current is the current session of a conversation, uuid.Nil if there is none.
func (c *Store) Current(to address.Conversation) (uuid.UUID, error) {
	f, err := c.read(to)
	return f.Current, err
}

// SetCurrent makes a session the current one of a conversation. Other sessions that were to be
// shown in full are not shown in full any more.
func (c *Store) SetCurrent(to address.Conversation, id uuid.UUID) error {
	return c.change(to, func(f *file) { f.Current, f.Turns = id, nil })
}

// All are the conversations that have a file.
func (c *Store) All() ([]address.Conversation, error) {
	names, err := c.folder.List()
	if err != nil {
		return nil, fmt.Errorf("read chats: %w", err)
	}
	var all []address.Conversation
	for _, name := range names {
		var to address.Conversation
		n, err := fmt.Sscanf(name, "%d-%d.json", &to.ChatID, &to.ThreadID)
		if err == nil && n == 2 && nameOf(to) == name {
			all = append(all, to)
		}
	}
	return all, nil
}

// Forget takes a session out of all conversations. Its messages are known as those of uuid.Max, which
// no session has: who answers one means no other session.
func (c *Store) Forget(id uuid.UUID) error {
	all, err := c.All()
	errs := []error{err}
	for _, to := range all {
		f, err := c.read(to)
		if data, _ := json.Marshal(f); err == nil && strings.Contains(string(data), id.String()) {
			err = c.change(to, func(f *file) { f.forget(id) })
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (f *file) forget(id uuid.UUID) {
	if f.Current == id {
		f.Current = uuid.Nil
	}
	for _, message := range slices.Clone(f.Messages[id]) {
		f.Messages.note(message, uuid.Max)
	}
	delete(f.Turns, id)
	f.Unread = slices.DeleteFunc(f.Unread, func(m ReadMark) bool { return m.Session == id })
}

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
		for id, turn := range old.Turns {
			if _, known := f.Turns[id]; !known {
				f.Turns[id] = turn
			}
		}
		for id, all := range old.Messages {
			for _, message := range all {
				if from.ChatID == to.ChatID {
					f.Messages.note(message, id)
				}
			}
		}
		for _, mark := range old.Unread { // what was shown in full may be gone, and is shown once more
			if _, known := f.mark(mark.Session); !known && mark.Since != nil {
				f.setMark(mark)
			}
		}
	})
	if err != nil {
		return err
	}
	delete(c.kept, from)
	return c.folder.Remove(nameOf(from))
}

// read is a conversation's file.
func (c *Store) read(to address.Conversation) (file, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readLocked(to)
}

// readLocked reads a conversation's file. A file that cannot be understood counts as none: the
// person picks a session again.
func (c *Store) readLocked(to address.Conversation) (f file, err error) {
	if f, ok := c.kept[to]; ok {
		return f, nil
	}
	defer func() {
		if err == nil {
			c.kept[to] = f
		}
	}()
	data, err := c.folder.Read(nameOf(to))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, spool.ErrForeign), errors.Is(err, spool.ErrTooBig):
		return file{}, nil
	case err != nil:
		return file{}, fmt.Errorf("read chat: %w", err)
	case json.Unmarshal(data, &f) != nil:
		return file{}, nil
	}
	return f, nil
}

func (c *Store) change(to address.Conversation, change func(*file)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changeLocked(to, change)
}

func (c *Store) changeLocked(to address.Conversation, change func(*file)) error {
	f, err := c.readLocked(to)
	if err != nil {
		return err
	}
	f = f.clone()
	change(&f)
	data, err := json.Marshal(f)
	if err == nil {
		err = c.folder.Put(nameOf(to), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write chat: %w", err)
	}
	c.kept[to] = f
	return nil
}

// clone shares nothing with f.
func (f file) clone() file {
	f.Version = 1
	was := f.Messages
	f.Messages = make(messages, len(was))
	for id, all := range was {
		f.Messages[id] = slices.Clone(all)
	}
	if f.Turns = maps.Clone(f.Turns); f.Turns == nil {
		f.Turns = make(map[uuid.UUID]Turn)
	}
	f.Unread = slices.Clone(f.Unread)
	return f
}
