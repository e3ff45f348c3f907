package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/internal/spool"
)

// movesFile says which groups have become which chats. A move that is not in it is found out again
// when something is sent to the old chat.
const movesFile = "moved.json"

// moves is that file.
type moves struct {
	Version int             `json:"version"`
	Moved   map[int64]int64 `json:"moved"` // earlier number → number
	Told    map[int64]int64 `json:"told"`  // moves that the chat was told of
}

// readMoves reads the file. A file that cannot be understood counts as none.
func (c *Store) readMoves() error {
	c.moves = moves{Version: 1, Moved: make(map[int64]int64), Told: make(map[int64]int64)}
	data, err := c.folder.Read(movesFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, spool.ErrForeign), errors.Is(err, spool.ErrTooBig):
		return nil
	case err != nil:
		return fmt.Errorf("read moved chats: %w", err)
	}
	var f moves
	if json.Unmarshal(data, &f) == nil {
		maps.Copy(c.moves.Moved, f.Moved)
		maps.Copy(c.moves.Told, f.Told)
	}
	return nil
}

// NoteMove keeps that a group has become another chat.
func (c *Store) NoteMove(from, to int64) error {
	return c.noteMove(func(m *moves) map[int64]int64 { return m.Moved }, from, to)
}

// NoteMoveTold keeps that the chat was told of a move.
func (c *Store) NoteMoveTold(from, to int64) error {
	return c.noteMove(func(m *moves) map[int64]int64 { return m.Told }, from, to)
}

// MoveTold reports whether the chat was told of a move.
func (c *Store) MoveTold(from, to int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	told, ok := c.moves.Told[from]
	return ok && told == to
}

func (c *Store) noteMove(in func(*moves) map[int64]int64, from, to int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := in(&c.moves)[from]; ok && known == to {
		return nil
	}
	next := moves{Version: 1, Moved: maps.Clone(c.moves.Moved), Told: maps.Clone(c.moves.Told)}
	in(&next)[from] = to
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("write moved chats: %w", err)
	}
	if err := c.folder.Put(movesFile, append(data, '\n')); err != nil {
		return fmt.Errorf("write moved chats: %w", err)
	}
	c.moves = next
	return nil
}

// MovedFrom is the group that has become a chat; false: none.
func (c *Store) MovedFrom(chat int64) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for from, to := range c.moves.Moved {
		if to == chat {
			return from, true
		}
	}
	return 0, false
}

// Moves are all moves, by the earlier number.
func (c *Store) Moves() map[int64]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.moves.Moved)
}

// Rehome makes what is known of one conversation known of another. What is known of the other
// already counts; messages of another chat are void, because the new chat numbers anew.
func (c *Store) Rehome(from, to session.Conversation) error {
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
