package inbox

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/go-telegram/bot/models"

	"ccbot/internal/address"
)

// ConversationOf returns the place of a message. In a group without topics a reply also has a
// thread id, the id of the message it replies to; only the thread id of a topic counts.
func ConversationOf(m *models.Message) address.Conversation {
	return conversation(m.Chat.ID, m.MessageThreadID, m.IsTopicMessage)
}

func conversation(chat int64, thread int, topic bool) address.Conversation {
	if !topic {
		thread = 0
	}
	return address.Conversation{ChatID: chat, ThreadID: thread}
}

// seen is the part of an update that can be read without decoding all of it: go-telegram refuses an
// update with one unknown variant of a union.
type seen struct {
	id      int64
	hasID   bool
	kind    string // "message", "callback_query", …: the name of the field next to update_id
	where   address.Conversation
	message int
	from    int64
	album   string          // media_group_id
	place   models.ChatType // the type of the chat
	title   string          // of a group
	was, is int64           // a group that has become another chat; 0 if there is no such news
}

type seenMessage struct {
	ID     int    `json:"message_id"`
	Thread int    `json:"message_thread_id"`
	Topic  bool   `json:"is_topic_message"`
	Chat   idRef  `json:"chat"`
	From   idRef  `json:"from"`
	Album  string `json:"media_group_id"`
	Was    int64  `json:"migrate_from_chat_id"`
	Is     int64  `json:"migrate_to_chat_id"`
}

type idRef struct {
	ID    int64           `json:"id"`
	Type  models.ChatType `json:"type"`  // of a chat
	Title string          `json:"title"` // of a group
}

// glance reads as much of an update as it can; unreadable fields stay zero.
func glance(raw json.RawMessage) seen {
	var parts map[string]json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return seen{}
	}
	var s seen
	s.hasID = json.Unmarshal(parts["update_id"], &s.id) == nil && s.id >= 0
	delete(parts, "update_id")
	for _, kind := range slices.Sorted(maps.Keys(parts)) {
		s.kind = kind
		s.read(parts[kind])
		break // Telegram promises at most one
	}
	return s
}

// inside replaces the chat and message ids of an update by their internal ones.
func (s *Store) inside(g seen) seen {
	if s.Inside != nil {
		g.where.ChatID, g.message = s.Inside(g.where.ChatID, g.message)
	}
	return g
}

func (s *seen) tap() bool { return s.kind == models.AllowedUpdateCallbackQuery }

// read reads place and sender from an update's content. All kinds with a chat use the same field; a
// tap has it in the tapped message.
func (s *seen) read(content json.RawMessage) {
	var c struct {
		seenMessage
		Tapped seenMessage `json:"message"`
	}
	_ = json.Unmarshal(content, &c) // fields that fail stay zero
	at := c.seenMessage
	if s.tap() {
		at = c.Tapped
	}
	s.where = conversation(at.Chat.ID, at.Thread, at.Topic)
	s.place, s.title = at.Chat.Type, at.Chat.Title
	s.message = at.ID
	s.from = c.From.ID
	s.album = at.Album
	if s.kind == models.AllowedUpdateMyChatMember { // answered in the private chat of the person who did it
		s.where, s.place = address.Conversation{ChatID: s.from}, models.ChatTypePrivate
	}
	switch {
	case at.Was != 0:
		s.was, s.is = at.Was, at.Chat.ID
	case at.Is != 0:
		s.was, s.is = at.Chat.ID, at.Is
	}
}
