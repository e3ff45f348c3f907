package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
	"github.com/google/uuid"

	"ccbot/internal/session"
)

// movesFile says which groups have become which chats. What is not in it is found
// out again when something is sent to the old one.
const movesFile = "moved.json"

// moves is that file.
type moves struct {
	Version int             `json:"version"`
	Moved   map[int64]int64 `json:"moved"` // earlier number → number
	Told    map[int64]int64 `json:"told"`  // those of which the chat knows
}

// readMoves reads the file. One that cannot be understood counts as none.
func (c *Chats) readMoves() error {
	c.moved = moves{Version: 1, Moved: make(map[int64]int64), Told: make(map[int64]int64)}
	data, err := os.ReadFile(filepath.Join(c.dir, movesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read moved chats: %w", err)
	}
	var f moves
	if json.Unmarshal(data, &f) == nil {
		maps.Copy(c.moved.Moved, f.Moved)
		maps.Copy(c.moved.Told, f.Told)
	}
	return nil
}

// NoteMove keeps that a group has become another chat.
func (c *Chats) NoteMove(from, to int64) error {
	return c.noteMove(func(m *moves) map[int64]int64 { return m.Moved }, from, to)
}

// NoteMoveTold keeps that the chat knows it.
func (c *Chats) NoteMoveTold(from, to int64) error {
	return c.noteMove(func(m *moves) map[int64]int64 { return m.Told }, from, to)
}

// MoveTold says whether the chat knows it.
func (c *Chats) MoveTold(from, to int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	told, ok := c.moved.Told[from]
	return ok && told == to
}

func (c *Chats) noteMove(in func(*moves) map[int64]int64, from, to int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := in(&c.moved)[from]; ok && known == to {
		return nil
	}
	next := moves{Version: 1, Moved: maps.Clone(c.moved.Moved), Told: maps.Clone(c.moved.Told)}
	in(&next)[from] = to
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("write moved chats: %w", err)
	}
	path := filepath.Join(c.dir, movesFile)
	if err := renameio.WriteFile(path, append(data, '\n'), 0o600, renameio.WithTempDir(c.dir)); err != nil {
		return fmt.Errorf("write moved chats: %w", err)
	}
	c.moved = next
	return nil
}

// MovedFrom is the group that has become a chat; false: none.
func (c *Chats) MovedFrom(chat int64) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for from, to := range c.moved.Moved {
		if to == chat {
			return from, true
		}
	}
	return 0, false
}

// Moves are all of them.
func (c *Chats) Moves() map[int64]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.moved.Moved)
}

// Rehome makes what is known of one conversation known of another, where what is
// known already counts. Messages of another chat are not there.
func (c *Chats) Rehome(from, to session.Conversation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := os.Lstat(c.path(from)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	old, err := c.readLocked(from)
	if err != nil {
		return err
	}
	err = c.changeLocked(to, func(f *chat) {
		if f.Current == uuid.Nil {
			f.Current = old.Current
		}
		for _, dir := range old.Dirs {
			if !slices.Contains(f.Dirs, dir) && len(f.Dirs) < keptDirs {
				f.Dirs = append(f.Dirs, dir)
			}
		}
		f.Turns = append(f.Turns, old.Turns...)
		if from.ChatID == to.ChatID {
			f.Ring = old.Ring.before(f.Ring)
		}
	})
	if err != nil {
		return err
	}
	delete(c.known, c.path(from))
	if err := os.Remove(c.path(from)); err != nil {
		return fmt.Errorf("remove chat: %w", err)
	}
	return nil
}

// before is a ring with the messages of another one behind its own.
func (r ring) before(newer ring) ring {
	all := r.clone()
	for _, e := range newer.messages {
		all.note(e.message, newer.sessions[e.session])
	}
	return all
}
