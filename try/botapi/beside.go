package botapi

import (
	"strings"
	"sync"
)

// telegram is the state that the bots of one Telegram share.
type telegram struct {
	mu     sync.Mutex // guards all state of all its servers
	bots   []*Server
	people map[int64]User
	files  map[string]*file
	nextID int64 // of queries, files, albums
}

func newTelegram() *telegram {
	return &telegram{people: map[int64]User{}, files: map[string]*file{}}
}

// addChatLocked adds a chat. A supergroup is shared by all bots; another chat is separate for each
// bot, because each bot counts its messages separately.
func (s *Server) addChatLocked(c *chat) {
	s.chats[c.ID] = c
	if c.Type == "supergroup" {
		for _, one := range s.bots {
			one.chats[c.ID] = c
		}
	}
}

// inChatLocked returns the bots that have a chat.
func (s *Server) inChatLocked(id int64) []*Server {
	if c := s.chats[id]; c == nil || c.Type != "supergroup" {
		return []*Server{s}
	}
	return s.bots
}

// SetPrivacy switches the bot's privacy mode. Without it the bot gets all messages of people, as an
// administrator does.
func (s *Server) SetPrivacy(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opt.Privacy = on
}

// tellLocked sends a person's message to each bot that sees it. No bot sees the message of another
// bot.
func (s *Server) tellLocked(kind string, m *Message) {
	sent := m
	if c := s.chats[m.Chat.ID]; c.IsForum && m.Thread != 0 && m.ReplyTo == nil && m.TopicCreated == nil {
		sent = &Message{}
		*sent = m.copy()
		// in a forum a message answers what has opened its topic
		sent.ReplyTo = s.quoteLocked(c.ID, m.Thread)
	}
	for _, one := range s.inChatLocked(m.Chat.ID) {
		if one.seesLocked(m) {
			one.enqueueLocked(kind, sent)
		}
	}
}

// seesLocked reports whether a bot gets a person's message:
// https://core.telegram.org/bots/features#privacy-mode.
func (s *Server) seesLocked(m *Message) bool {
	c := s.chats[m.Chat.ID]
	switch {
	case !s.opt.Privacy, c.Type == "private", serviceLine(m) != "", m.MigratedTo != 0, m.MigratedFrom != 0:
		return true
	case m.ReplyTo != nil:
		return m.ReplyTo.From != nil && m.ReplyTo.From.ID == s.bot.ID
	}
	for _, e := range m.Entities {
		if e.Type == "bot_command" && e.Offset == 0 {
			command, _, _ := strings.Cut(strings.ReplaceAll(m.Text, "\n", " "), " ")
			if _, to, named := strings.Cut(command, "@"); named {
				return strings.EqualFold(to, s.bot.Username)
			}
			return c.lastBot == s.bot.ID
		}
	}
	return false
}

// ownerLocked returns the bot that has sent a message.
func (s *Server) ownerLocked(m *Message) *Server {
	for _, one := range s.inChatLocked(m.Chat.ID) {
		if m.From != nil && one.bot.ID == m.From.ID {
			return one
		}
	}
	return s
}
