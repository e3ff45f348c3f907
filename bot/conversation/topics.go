package conversation

import (
	"github.com/google/uuid"

	"ccbot/bot/port/views"
	"ccbot/internal/address"
)

// Topic is what is kept of a topic that the bot has opened for a session.
type Topic struct {
	For  string `json:"for"`            // what asked for it: the key of a message, or the id of a session
	Name string `json:"name"`           // of the session, when topic and session were last called the same
	Over bool   `json:"over,omitempty"` // its icon says that its session is over
}

// NoteTopic keeps what is known of a topic of the bot's.
func (c *Store) NoteTopic(at address.Conversation, t Topic) error {
	return c.change(at, func(f *file) { f.Topic = &t })
}

// Topic is what is kept of a topic; false: the bot has not opened it.
func (c *Store) Topic(at address.Conversation) (Topic, bool) {
	if t := c.read(at).Topic; t != nil {
		return *t, true
	}
	return Topic{}, false
}

// NoteTopicsRefused keeps whether a chat was told that the bot may open no topics there.
func (c *Store) NoteTopicsRefused(chat int64, told bool) error {
	at := address.Conversation{ChatID: chat}
	if c.TopicsRefused(chat) == told {
		return nil
	}
	return c.change(at, func(f *file) { f.NoTopics = told })
}

// TopicsRefused reports whether a chat was told that the bot may open no topics there.
func (c *Store) TopicsRefused(chat int64) bool {
	return c.read(address.Conversation{ChatID: chat}).NoTopics
}

// OpenedFor is the topic of a chat that was opened for what asked for it.
func (c *Store) OpenedFor(chat int64, asked string) (at address.Conversation, known bool) {
	for _, at := range c.All() {
		if t, ours := c.Topic(at); ours && at.ChatID == chat && t.For == asked {
			return at, true
		}
	}
	return at, false
}

// TopicOf is the topic of a chat that belongs to a session: the one that shows it, or one where it is the
// current session.
func (b *Book) TopicOf(chat int64, r views.Session) (at address.Conversation, known bool) {
	for _, at := range b.All() {
		if at.ChatID == chat && at.ThreadID != 0 && b.IsCurrent(at, r) {
			return at, true
		}
	}
	return at, false
}

// Home is where a session is shown that a person uses in a place: in the session's own topic, if it has
// one in that chat. A topic that was opened for another session stays that session's alone.
func (b *Book) Home(to address.Conversation, r views.Session) address.Conversation {
	if r.Conversation == to {
		return to
	}
	if own, known := b.TopicOf(to.ChatID, r); known {
		return own
	}
	if _, ours := b.Topic(to); ours && b.CurrentID(to) != uuid.Nil && !b.IsCurrent(to, r) {
		to.ThreadID = 0
	}
	return to
}
