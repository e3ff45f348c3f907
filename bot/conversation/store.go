package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/alias"
	"ccbot/internal/address"
	"ccbot/internal/spool"
	"ccbot/port/talk"
)

// Store keeps one small file for each conversation.
type Store struct {
	Aliases   *alias.Table            // maps groups to their later chats
	Changed   func(was, now Settings) // is called after the settings of a chat have changed; may be nil
	Zone      string                  // of chats that have chosen none; empty: the machine's
	DayBudget float64                 // cap of a day of all sessions, in dollars; 0: none

	mu     sync.Mutex // held during disk access
	folder spool.Folder
	kept   map[address.Conversation]file // as they are on disk; never changed in place
	last   map[said]int                  // the newest message that shows a part of a session's transcript, in this run
}

// said is a session and the place where it is shown.
type said struct {
	to      address.Conversation
	session uuid.UUID
}

// file is the stored state of one conversation.
type file struct {
	Version int       `json:"version"`
	Current uuid.UUID `json:"current"` // what was chosen last
	// Own is what each person of a group has chosen last, or has written to without choosing. It counts
	// where several people are: see IsShared.
	Own      map[int64]uuid.UUID `json:"own,omitempty"`
	Messages messages            `json:"messages,omitempty"`
	Turns    map[uuid.UUID]Turn  `json:"turns,omitempty"`  // shown in full
	Unread   []ReadMark          `json:"unread,omitempty"` // how much is shown
	// Cursors are the positions up to which the chat has the transcripts of running sessions.
	Cursors   map[uuid.UUID]talk.Cursor `json:"cursors,omitempty"`
	News      map[uuid.UUID]int64       `json:"news,omitempty"` // the number of the last news, see News
	Damaged   bool                      `json:"damaged,omitempty"`
	Topic     *Topic                    `json:"topic,omitempty"`     // the bot has opened it; nil: it has not
	Anonymous bool                      `json:"anonymous,omitempty"` // the private chats were told that who writes in the group's name is not heard
	NoTopics  bool                      `json:"no_topics,omitempty"` // the chat was notified that the bot may not open topics
	Settings  Settings                  `json:"settings,omitzero"`
	Bots      Bots                      `json:"bots,omitzero"`   // of a group
	People    People                    `json:"people,omitzero"` // of a group
	// Speakers has the people who have written prompts to each session here, at most two of them.
	Speakers map[uuid.UUID][]int64 `json:"speakers,omitempty"`
	// Askers has the person whose prompt, written here, has begun the last turn of each session.
	Askers map[uuid.UUID]int64 `json:"askers,omitempty"`
	// LastPrompted is the time of the last prompt from a person to each session, within the last day.
	LastPrompted map[uuid.UUID]time.Time `json:"last_prompted,omitempty"`
}

// maxFile is the size of the largest file: a thousand messages of a thousand sessions.
const maxFile = 4 << 20

// Open reads the folder, and creates it if necessary. An invalid file is moved to quarantine and
// logged, and its conversation is Damaged. The error is about the folder, or about a file that
// cannot be read now.
func Open(dir, quarantine string, log *slog.Logger) (*Store, error) {
	c := &Store{folder: spool.Folder{Path: dir, MaxSize: maxFile, Fsync: true},
		kept: make(map[address.Conversation]file), last: make(map[said]int)}
	aside, err := c.load(spool.Loader{Quarantine: quarantine, Log: log})
	for _, a := range aside {
		if to, ok := placeOf(a.Name); ok && err == nil {
			err = c.change(to, func(f *file) { f.Damaged = true })
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open chats: %w", err)
	}
	return c, nil
}

func (c *Store) load(from spool.Loader) (aside []spool.Unloaded, err error) {
	if err := c.folder.Make(); err != nil {
		return nil, err
	}
	if c.Aliases, err = alias.Open(c.folder, from); err != nil {
		return nil, err
	}
	return from.Load(c.folder, suffix, func(name string, data []byte) error {
		to, ok := placeOf(name)
		if !ok {
			return nil // of the aliases
		}
		var f file
		if err := json.Unmarshal(data, &f); err != nil {
			return err
		}
		if f.Version == 0 {
			return errors.New("it has no version")
		}
		c.kept[to] = f
		return nil
	})
}

// Damaged returns the conversations whose file was set aside, until that is reported to them.
func (c *Store) Damaged() []address.Conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []address.Conversation
	for to, f := range c.kept {
		if f.Damaged {
			all = append(all, to)
		}
	}
	slices.SortFunc(all, compare)
	return all
}

// NoteDamageReported stores that the damaged file was reported to a conversation.
func (c *Store) NoteDamageReported(to address.Conversation) error {
	return c.change(to, func(f *file) { f.Damaged = false })
}

const suffix = ".json"

func nameOf(to address.Conversation) string {
	return fmt.Sprintf("%d-%d", to.ChatID, to.ThreadID) + suffix
}

// placeOf returns the conversation of a file; false for other files.
func placeOf(name string) (to address.Conversation, ok bool) {
	n, err := fmt.Sscanf(name, "%d-%d", &to.ChatID, &to.ThreadID)
	return to, err == nil && n == 2 && nameOf(to) == name
}

// Current returns the current session of a conversation, or uuid.Nil.
func (c *Store) Current(to address.Conversation) uuid.UUID { return c.read(to).Current }

// SetCurrent makes a session the current one of a conversation, chosen by nobody who is known.
func (c *Store) SetCurrent(to address.Conversation, id uuid.UUID) error {
	return c.SetCurrentOf(to, 0, id)
}

// SetCurrentOf makes a session the current one that a person has chosen; 0: nobody is known.
func (c *Store) SetCurrentOf(to address.Conversation, by int64, id uuid.UUID) error {
	return c.change(to, func(f *file) {
		f.Current = id
		f.noteOwn(to, by, id)
	})
}

// noteOwn stores a person's own session in a group's plain chat.
func (f *file) noteOwn(to address.Conversation, by int64, id uuid.UUID) {
	if by == 0 || to.ChatID > 0 || to.ThreadID != 0 {
		return
	}
	if f.Own = maps.Clone(f.Own); f.Own == nil {
		f.Own = make(map[int64]uuid.UUID)
	}
	f.Own[by] = id
}

// All returns the stored conversations, in a fixed order.
func (c *Store) All() []address.Conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(maps.Keys(c.kept), compare)
}

// Forget removes a session from all conversations. Its messages are stored as those of uuid.Max,
// which no session has: a reply to one is not for another session.
func (c *Store) Forget(id uuid.UUID) error {
	c.mu.Lock()
	maps.DeleteFunc(c.last, func(one said, _ int) bool { return one.session == id })
	c.mu.Unlock()
	var errs []error
	for _, to := range c.All() {
		if data, _ := json.Marshal(c.read(to)); strings.Contains(string(data), id.String()) {
			errs = append(errs, c.change(to, func(f *file) { f.forget(id) }))
		}
	}
	return errors.Join(errs...)
}

func (f *file) forget(id uuid.UUID) {
	if f.Current == id {
		f.Current = uuid.Nil
	}
	f.Own = maps.Clone(f.Own)
	for by, own := range f.Own {
		if own == id { // the person has chosen one, and gets no other unasked
			f.Own[by] = uuid.Nil
		}
	}
	for _, message := range slices.Clone(f.Messages[id]) {
		f.Messages.note(message, uuid.Max)
	}
	delete(f.Turns, id)
	delete(f.Cursors, id)
	delete(f.News, id)
	delete(f.LastPrompted, id)
	delete(f.Speakers, id)
	delete(f.Askers, id)
	if f.Settings.Sessions = maps.Clone(f.Settings.Sessions); f.Settings.Sessions != nil {
		delete(f.Settings.Sessions, id)
	}
	f.Unread = slices.DeleteFunc(f.Unread, func(m ReadMark) bool { return m.Session == id })
}

// Rehome moves the state of one conversation to another. Existing state there has precedence; the
// message numbers of another chat are void, because the new chat numbers its messages from 1.
func (c *Store) Rehome(from, to address.Conversation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, ok := c.kept[from]
	if !ok {
		return nil
	}
	err := c.changeLocked(to, func(f *file) {
		if f.Current == uuid.Nil {
			f.Current = old.Current
		}
		for by, own := range old.Own {
			if _, known := f.Own[by]; !known {
				f.noteOwn(to, by, own)
			}
		}
		if from.ChatID != to.ChatID && reflect.ValueOf(f.Settings).IsZero() {
			f.Settings = old.Settings
		}
		if from.ChatID != to.ChatID && reflect.ValueOf(f.Bots).IsZero() {
			f.Bots = old.Bots.inNewChat()
		}
		if from.ChatID != to.ChatID && reflect.ValueOf(f.People).IsZero() {
			f.People = old.People
		}
		for id, turn := range old.Turns {
			if _, known := f.Turns[id]; !known {
				f.Turns[id] = turn
			}
		}
		for id, all := range old.Speakers {
			for _, one := range all {
				f.noteSpeaker(id, one)
			}
		}
		for id, one := range old.Askers {
			f.Askers[id] = one
		}
		for id, sent := range old.LastPrompted {
			f.notePrompt(id, sent)
		}
		f.rehomeCursors(old)
		f.rehomeNews(old)
		for id, all := range old.Messages {
			for _, message := range all {
				if from.ChatID == to.ChatID {
					f.Messages.note(message, id)
				}
			}
		}
		for _, mark := range old.Unread { // messages shown in full may be gone, and are shown again
			if _, known := f.markOf(mark.Session); !known && mark.Since != nil {
				f.setMark(ReadMark{Session: mark.Session, Since: mark.Since})
			}
		}
	})
	if err != nil {
		return err
	}
	if err := c.folder.Remove(nameOf(from)); err != nil {
		return err
	}
	delete(c.kept, from)
	return nil
}

// read returns a conversation's file.
func (c *Store) read(to address.Conversation) file {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[to]
}

func (c *Store) change(to address.Conversation, change func(*file)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changeLocked(to, change)
}

func (c *Store) changeLocked(to address.Conversation, change func(*file)) error {
	f := c.kept[to].clone()
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

// clone returns a copy that shares nothing with f.
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
	if f.Speakers = maps.Clone(f.Speakers); f.Speakers == nil {
		f.Speakers = make(map[uuid.UUID][]int64)
	}
	if f.Askers = maps.Clone(f.Askers); f.Askers == nil {
		f.Askers = make(map[uuid.UUID]int64)
	}
	if f.LastPrompted = maps.Clone(f.LastPrompted); f.LastPrompted == nil {
		f.LastPrompted = make(map[uuid.UUID]time.Time)
	}
	if f.Cursors = maps.Clone(f.Cursors); f.Cursors == nil {
		f.Cursors = make(map[uuid.UUID]talk.Cursor)
	}
	if f.News = maps.Clone(f.News); f.News == nil {
		f.News = make(map[uuid.UUID]int64)
	}
	f.Unread = slices.Clone(f.Unread)
	return f
}
