package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/renameio/v2"
	"github.com/google/uuid"

	"ccbot/internal/session"
)

// Chats remembers, per conversation, which session is current. One small file
// each; it is a convenience and may be lost without losing a message.
type Chats struct {
	dir string
	mu  sync.Mutex
}

// chat is one file of chats/.
type chat struct {
	Version int       `json:"version"`
	Current uuid.UUID `json:"current"`
}

// OpenChats opens the folder, making it if needed.
func OpenChats(dir string) (*Chats, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open chats: %w", err)
	}
	return &Chats{dir: dir}, nil
}

func (c *Chats) path(to session.Conversation) string {
	return filepath.Join(c.dir, fmt.Sprintf("%d-%d.json", to.ChatID, to.ThreadID))
}

// Current is the current session of a conversation, uuid.Nil if there is none.
// A file that cannot be read counts as none: the person picks again.
func (c *Chats) Current(to session.Conversation) (uuid.UUID, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, err := os.ReadFile(c.path(to))
	if errors.Is(err, fs.ErrNotExist) {
		return uuid.Nil, nil
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("read chat: %w", err)
	}
	var f chat
	if err := json.Unmarshal(data, &f); err != nil {
		return uuid.Nil, nil
	}
	return f.Current, nil
}

// SetCurrent makes a session the current one of a conversation.
func (c *Chats) SetCurrent(to session.Conversation, id uuid.UUID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, err := json.Marshal(chat{Version: 1, Current: id})
	if err != nil {
		return fmt.Errorf("write chat: %w", err)
	}
	if err := renameio.WriteFile(c.path(to), append(data, '\n'), 0o600, renameio.WithTempDir(c.dir)); err != nil {
		return fmt.Errorf("write chat: %w", err)
	}
	return nil
}
