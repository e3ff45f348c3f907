package botapi

import (
	"cmp"
	"fmt"
	"slices"
)

// Group makes a group (id below 0) of the bot and all people. A supergroup also has the bots of
// Options.Beside. A forum is a supergroup with topics.
func (s *Server) Group(id int64, title string, forum bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := "group"
	if id < supergroupBelow || forum {
		kind = "supergroup"
	}
	s.addChatLocked(&chat{Chat: Chat{ID: id, Type: kind, Title: title, IsForum: forum}})
}

// Migrate makes a supergroup of a group, as a person does it: it has a new id from now on, which
// should be below -1000000000000, and every call about the old one is refused with
// migrate_to_chat_id. Its messages are not moved. The bot gets an update in both chats.
func (p *Person) Migrate(from, to int64) error {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.chats[from]
	if old == nil || old.Type != "group" {
		return fmt.Errorf("stand-in: migrate %d: not a basic group", from)
	}
	fresh := &chat{Chat: Chat{ID: to, Type: "supergroup", Title: old.Title}}
	s.addChatLocked(fresh)
	old.movedTo = to
	left, came := s.newMessageLocked(old, p.user, 0), s.newMessageLocked(fresh, p.user, 0)
	left.MigratedTo, came.MigratedFrom = to, from
	s.receiveLocked(left)
	s.receiveLocked(came)
	return nil
}

// OpenTopic makes a topic in a forum or in a private chat, as a person does it. It returns the
// topic's thread.
func (p *Person) OpenTopic(chatID int64, name string) int {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.openChatLocked(p.user, chatID)
	color := topicColors[len(c.topics)%len(topicColors)]
	m := s.newPersonMessageLocked(p.user, chatID, 0, 0)
	m.Thread, m.IsTopicMessage = m.ID, true
	m.TopicCreated = &TopicCreated{Name: name, IconColor: color}
	c.addTopic(&topic{ID: m.ID, Name: name, Color: color})
	s.publishLocked(c.ID, event{Type: "topics", Topics: c.topicList()})
	s.receiveLocked(m)
	return m.Thread
}

// RenameTopic renames a topic, as a person does it.
func (p *Person) RenameTopic(chatID int64, thread int, name string) error {
	return p.changeTopic(chatID, thread, func(t *topic, m *Message) bool {
		m.TopicEdited = &TopicEdited{Name: name}
		changed := name != "" && t.Name != name
		t.Name = name
		return changed
	})
}

// ShutTopic closes a topic of a forum, or opens it again, as a person does it.
func (p *Person) ShutTopic(chatID int64, thread int, closed bool) error {
	return p.changeTopic(chatID, thread, func(t *topic, m *Message) bool {
		if m.TopicReopened = &struct{}{}; closed {
			m.TopicClosed, m.TopicReopened = m.TopicReopened, nil
		}
		changed := t.Closed != closed && chatID < 0
		t.Closed = closed
		return changed
	})
}

// changeTopic changes a topic and tells the bot by a message that change makes.
func (p *Person) changeTopic(chatID int64, thread int, change func(t *topic, m *Message) bool) error {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[chatID]
	if c == nil || c.topics[thread] == nil {
		return fmt.Errorf("stand-in: change topic %d of %d: no such topic", thread, chatID)
	}
	now, edit := *c.topics[thread], &Message{}
	if !change(&now, edit) {
		return fmt.Errorf("stand-in: change topic %d of %d: it is so already, or cannot be", thread, chatID)
	}
	*c.topics[thread] = now
	m := s.newPersonMessageLocked(p.user, chatID, thread, 0)
	m.TopicEdited, m.TopicClosed, m.TopicReopened = edit.TopicEdited, edit.TopicClosed, edit.TopicReopened
	s.publishLocked(c.ID, event{Type: "topics", Topics: c.topicList()})
	s.receiveLocked(m)
	return nil
}

// Topic returns the id of the topic with a name, or 0.
func (s *Server) Topic(chatID int64, name string) (thread int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.chats[chatID]; c != nil {
		for _, t := range c.topics {
			if t.Name == name {
				thread = max(thread, t.ID)
			}
		}
	}
	return thread
}

// DeleteTopic removes a topic with all its messages, as a person does it. The bot gets no update;
// its calls for the topic are refused from now on.
func (p *Person) DeleteTopic(chatID int64, thread int) error {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[chatID]
	if c == nil || c.topics[thread] == nil {
		return fmt.Errorf("stand-in: delete topic %d of %d: no such topic", thread, chatID)
	}
	s.dropTopicLocked(c, thread)
	return nil
}

func (c *chat) addTopic(t *topic) {
	if c.topics == nil {
		c.topics = map[int]*topic{}
	}
	c.topics[t.ID] = t
}

func (s *Server) dropTopicLocked(c *chat, thread int) {
	delete(c.topics, thread)
	for _, m := range slices.Clone(c.messages) {
		if m.Thread == thread {
			s.deleteLocked(m)
		}
	}
	s.publishLocked(c.ID, event{Type: "topics", Topics: c.topicList()})
}

func (c *chat) topicList() []topicView {
	out := []topicView{}
	for _, t := range c.topics {
		out = append(out, topicView{ID: t.ID, Name: t.Name, Icon: topicIcons[t.Icon], Closed: t.Closed})
	}
	slices.SortFunc(out, func(a, b topicView) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
