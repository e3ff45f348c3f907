package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/alias"
	"ccbot/internal/address"
	"ccbot/internal/spool"
)

// Store keeps one small file for each conversation.
type Store struct {
	Aliases *alias.Table // which groups have become which chats

	folder spool.Folder

	mu    sync.Mutex
	known map[string]file // the files by name, as this process has read or written them; nobody else writes
}

// file is what is kept of one conversation.
type file struct {
	Version int       `json:"version"`
	Current uuid.UUID `json:"current"`
	// Owners says whose the last messages are.
	Owners owners `json:"ring,omitzero"`
	// Turns are of sessions that are shown in full for one turn.
	Turns []Turn `json:"turns,omitempty"`
	// Unread says how much of what sessions have said is in the conversation.
	Unread []ReadMark `json:"had,omitempty"`
}

// clone shares nothing with f.
func (f file) clone() file {
	f.Owners, f.Turns, f.Unread = f.Owners.clone(), slices.Clone(f.Turns), slices.Clone(f.Unread)
	return f
}

// maxFile is the size of the largest file: a thousand messages of a thousand sessions.
const maxFile = 4 << 20

// Open opens the folder, making it if needed.
func Open(dir string) (*Store, error) {
	c := &Store{folder: spool.Folder{Path: dir, MaxSize: maxFile, Fsync: true}, known: make(map[string]file)}
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

// read is a conversation's file; what it gives is not to be changed.
func (c *Store) read(to address.Conversation) (file, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readLocked(to)
}

// readLocked reads a conversation's file. A file that cannot be understood counts as none: the
// person picks a session again.
func (c *Store) readLocked(to address.Conversation) (file, error) {
	name := nameOf(to)
	if f, ok := c.known[name]; ok {
		return f, nil
	}
	data, err := c.folder.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, spool.ErrForeign), errors.Is(err, spool.ErrTooBig):
		return file{}, nil
	case err != nil:
		return file{}, fmt.Errorf("read chat: %w", err)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return file{}, nil
	}
	c.known[name] = f
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
	f.Version = 1
	change(&f)
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write chat: %w", err)
	}
	if err := c.folder.Put(nameOf(to), append(data, '\n')); err != nil {
		return fmt.Errorf("write chat: %w", err)
	}
	c.known[nameOf(to)] = f
	return nil
}

func (c *Store) removeLocked(to address.Conversation) error {
	delete(c.known, nameOf(to))
	if err := c.folder.Remove(nameOf(to)); err != nil {
		return fmt.Errorf("remove chat: %w", err)
	}
	return nil
}
