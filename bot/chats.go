package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/renameio/v2"
	"github.com/google/uuid"

	"ccbot/internal/session"
)

// Chats remembers, per conversation, which session is current, and directories
// that a button may name. One small file each; it is a convenience and may be
// lost without losing a message.
type Chats struct {
	dir string

	mu    sync.Mutex
	known map[string]chat // the files, as this process has read or written them; nobody else writes
	moved moves           // groups that have become other chats
}

// chat is one file of chats/.
type chat struct {
	Version int       `json:"version"`
	Current uuid.UUID `json:"current"`
	// Dirs are directories that a session was asked back in, newest first: a
	// button names one by its hash.
	Dirs []string `json:"dirs,omitempty"`
	// Ring says whose the last messages are.
	Ring ring `json:"ring,omitzero"`
	// Turns are of sessions that are shown in full for one turn.
	Turns []turn `json:"turns,omitempty"`
	// Outputs are the messages that grow with a command of bash mode.
	Outputs []output `json:"outputs,omitempty"`
	// Had says how much is there of what sessions have said.
	Had []had `json:"had,omitempty"`
}

// clone shares nothing with f.
func (f chat) clone() chat {
	f.Dirs, f.Turns, f.Outputs = slices.Clone(f.Dirs), slices.Clone(f.Turns), slices.Clone(f.Outputs)
	f.Ring, f.Had = f.Ring.clone(), slices.Clone(f.Had)
	return f
}

// keptDirs bounds chat.Dirs.
const keptDirs = 8

// OpenChats opens the folder, making it if needed.
func OpenChats(dir string) (*Chats, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open chats: %w", err)
	}
	c := &Chats{dir: dir, known: make(map[string]chat)}
	return c, c.readMoves()
}

func (c *Chats) path(to session.Conversation) string {
	return filepath.Join(c.dir, fmt.Sprintf("%d-%d.json", to.ChatID, to.ThreadID))
}

// Current is the current session of a conversation, uuid.Nil if there is none.
func (c *Chats) Current(to session.Conversation) (uuid.UUID, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.readLocked(to)
	return f.Current, err
}

// SetCurrent makes a session the current one of a conversation. Others that were
// to be shown in full are not any more.
func (c *Chats) SetCurrent(to session.Conversation, id uuid.UUID) error {
	return c.change(to, func(f *chat) { f.Current, f.Turns = id, nil })
}

// Conversations are those that have a file.
func (c *Chats) Conversations() ([]session.Conversation, error) {
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("read chats: %w", err)
	}
	var all []session.Conversation
	for _, f := range files {
		var to session.Conversation
		n, err := fmt.Sscanf(f.Name(), "%d-%d.json", &to.ChatID, &to.ThreadID)
		if err == nil && n == 2 && c.path(to) == filepath.Join(c.dir, f.Name()) {
			all = append(all, to)
		}
	}
	return all, nil
}

// Dirs are directories that sessions were asked back in, newest first.
func (c *Chats) Dirs(to session.Conversation) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.readLocked(to)
	return slices.Clone(f.Dirs), err
}

// NoteDir remembers a directory that a session was asked back in.
func (c *Chats) NoteDir(to session.Conversation, dir string) error {
	return c.change(to, func(f *chat) {
		others := slices.DeleteFunc(f.Dirs, func(known string) bool { return known == dir })
		f.Dirs = append([]string{dir}, others[:min(len(others), keptDirs-1)]...)
	})
}

// readLocked reads a conversation's file; what it gives is not to be changed. One
// that cannot be understood counts as none: the person picks again.
func (c *Chats) readLocked(to session.Conversation) (chat, error) {
	path := c.path(to)
	if f, ok := c.known[path]; ok {
		return f, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return chat{}, nil
	}
	if err != nil {
		return chat{}, fmt.Errorf("read chat: %w", err)
	}
	var f chat
	if err := json.Unmarshal(data, &f); err != nil {
		return chat{}, nil
	}
	c.known[path] = f
	return f, nil
}

func (c *Chats) change(to session.Conversation, change func(*chat)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changeLocked(to, change)
}

func (c *Chats) changeLocked(to session.Conversation, change func(*chat)) error {
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
	if err := renameio.WriteFile(c.path(to), append(data, '\n'), 0o600, renameio.WithTempDir(c.dir)); err != nil {
		return fmt.Errorf("write chat: %w", err)
	}
	c.known[c.path(to)] = f
	return nil
}
