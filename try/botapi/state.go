package botapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Ids below it are supergroups, which count their messages on their own; private chats and basic
// groups of one bot share one sequence.
const supergroupBelow = -1_000_000_000_000

// maxCalls bounds the log of a stand-in that runs for days.
const maxCalls = 20_000

// state is all that the server knows; its methods with "Locked" need Server.mu.
type state struct {
	chats    map[int64]*chat
	lastID   int
	queue    updateQueue
	queries  map[string]*query
	commands map[string][]Command
	faults   []*Fault
	corrupt  func(Call) Fault
	calls    []Call
	pace     *pace
	changed  chan struct{} // closed and replaced whenever anything a waiter looks at changes
	streams  map[*stream]struct{}
	online   bool // the bot has called
}

type chat struct {
	Chat
	messages []*Message // in order of id
	lastID   int        // supergroups only
	topics   map[int]*topic
	blocked  bool
	movedTo  int64 // the supergroup that a group has become
	lastBot  int64 // the bot that has written last
}

type topic struct {
	ID     int
	Name   string
	Color  int
	Icon   string // a key of topicIcons
	Closed bool
}

func newState() state {
	return state{
		chats:    map[int64]*chat{},
		queue:    newUpdateQueue(),
		queries:  map[string]*query{},
		commands: map[string][]Command{},
		pace:     newPace(),
		changed:  make(chan struct{}),
		streams:  map[*stream]struct{}{},
	}
}

// Messages returns the current state of a chat: deleted messages are gone, edits are applied.
func (s *Server) Messages(chatID int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messagesLocked(chatID)
}

func (s *Server) messagesLocked(chatID int64) []Message {
	c := s.chats[chatID]
	if c == nil {
		return nil
	}
	out := make([]Message, len(c.messages))
	for i, m := range c.messages {
		out[i] = m.copy()
	}
	return out
}

// Message returns one message of a chat.
func (s *Server) Message(chatID int64, id int) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.messageLocked(chatID, id); m != nil {
		return m.copy(), true
	}
	return Message{}, false
}

// WaitMessage waits until a message of the chat matches and returns the newest that does; otherwise
// the context's error.
func (s *Server) WaitMessage(ctx context.Context, chatID int64, match func(Message) bool) (Message, error) {
	for {
		s.mu.Lock()
		messages, changed := s.messagesLocked(chatID), s.changed
		s.mu.Unlock()
		for _, m := range slices.Backward(messages) {
			if match(m) {
				return m, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Message{}, fmt.Errorf("stand-in: wait for a message in %d (%d there): %w", chatID, len(messages), ctx.Err())
		}
	}
}

// Calls returns all API calls so far (the newest 20,000), in the order in which they ended.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// WaitCall waits until a finished call matches and returns the newest that does.
func (s *Server) WaitCall(ctx context.Context, match func(Call) bool) (Call, error) {
	for {
		s.mu.Lock()
		calls, changed := slices.Clone(s.calls), s.changed
		s.mu.Unlock()
		for _, c := range slices.Backward(calls) {
			if match(c) {
				return c, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Call{}, fmt.Errorf("stand-in: wait for a call (%d so far): %w", len(calls), ctx.Err())
		}
	}
}

// wakeLocked wakes every waiter.
func (s *Server) wakeLocked() {
	for _, one := range s.bots {
		close(one.changed)
		one.changed = make(chan struct{})
	}
}

func (s *Server) logCallLocked(c Call) {
	if len(s.calls) >= maxCalls {
		s.calls = slices.Delete(s.calls, 0, maxCalls/10)
	}
	s.calls = append(s.calls, c)
	s.wakeLocked()
}

func (s *Server) messageLocked(chatID int64, id int) *Message {
	c := s.chats[chatID]
	if c == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(c.messages, id, func(m *Message, id int) int { return m.ID - id })
	if !found {
		return nil
	}
	return c.messages[i]
}

func (s *Server) openChatLocked(u User, id int64) *chat {
	if c := s.chats[id]; c != nil {
		return c
	}
	c := &chat{Chat: Chat{ID: id, Type: "private", FirstName: u.FirstName, Username: u.Username}}
	if id != u.ID {
		c.Chat = Chat{ID: id, Type: "group", Title: "Group"}
		if id < supergroupBelow {
			c.Type = "supergroup"
		}
	}
	s.addChatLocked(c)
	return c
}

func (s *Server) newMessageLocked(c *chat, from User, thread int) *Message {
	id := &s.lastID
	if c.Type == "supergroup" {
		id = &c.lastID
	}
	*id++
	return &Message{
		ID: *id, Thread: thread, IsTopicMessage: thread != 0,
		From: &from, FromBot: from.IsBot, Chat: c.Chat, Date: s.opt.Now().Unix(),
	}
}

func (s *Server) newPersonMessageLocked(u User, chatID int64, thread, replyTo int) *Message {
	c := s.openChatLocked(u, chatID)
	m := s.newMessageLocked(c, u, thread)
	m.ReplyTo = s.quoteLocked(chatID, replyTo)
	return m
}

// quoteLocked is a copy of the message that is answered; Telegram nests one level only.
func (s *Server) quoteLocked(chatID int64, id int) *Message {
	m := s.messageLocked(chatID, id)
	if m == nil {
		return nil
	}
	quote := m.copy()
	quote.ReplyTo = nil
	return &quote
}

// receiveLocked puts a person's message into the chat and tells the bot.
func (s *Server) receiveLocked(m *Message) {
	s.postLocked(m)
	s.tellLocked("message", m)
}

func (s *Server) postLocked(m *Message) {
	c := s.chats[m.Chat.ID]
	c.messages = append(c.messages, m)
	s.changedLocked(m)
}

// changedLocked tells waiters and the page the new state of a message.
func (s *Server) changedLocked(m *Message) {
	s.wakeLocked()
	s.publishLocked(m.Chat.ID, event{Type: "message", Message: s.viewLocked(m)})
}

func (s *Server) deleteLocked(m *Message) {
	c := s.chats[m.Chat.ID]
	c.messages = slices.DeleteFunc(c.messages, func(other *Message) bool { return other == m })
	s.wakeLocked()
	s.publishLocked(m.Chat.ID, event{Type: "delete", ID: m.ID})
}

// copy is deep where the server changes things in place.
func (m *Message) copy() Message {
	out := *m
	out.Reactions = slices.Clone(m.Reactions)
	return out
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // only our own plain types get here
		panic(fmt.Sprintf("stand-in: encode %T: %v", v, err))
	}
	return b
}

func replaceReaction(list []Reaction, from int64, emoji ...string) []Reaction {
	list = slices.DeleteFunc(slices.Clone(list), func(r Reaction) bool { return r.From == from })
	for _, e := range emoji {
		if e != "" {
			list = append(list, Reaction{Emoji: e, From: from})
		}
	}
	return list
}

func reactionJSON(list []Reaction, from int64) []map[string]string {
	out := []map[string]string{}
	for _, r := range list {
		if r.From == from {
			out = append(out, map[string]string{"type": "emoji", "emoji": r.Emoji})
		}
	}
	return out
}
