package botapi

import (
	"fmt"
	"time"
)

// Person is someone who talks to the bot. Several values of the same id are the same person.
type Person struct {
	srv  *Server
	user User
}

// Person makes (or finds) a person. As at Telegram the bot cannot write to them before they wrote
// first; see Start.
func (s *Server) Person(id int64, name string) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, known := s.people[id]
	if !known || name != "" && name != u.FirstName {
		u.ID, u.FirstName = id, name
		s.people[id] = u
	}
	return &Person{srv: s, user: u}
}

// SetUsername gives the person the name of their mentions, without @.
func (p *Person) SetUsername(name string) {
	p.srv.mu.Lock()
	defer p.srv.mu.Unlock()
	p.user.Username = name
	p.srv.people[p.user.ID] = p.user
}

// PagePerson returns the person who writes on the chat page.
func (s *Server) PagePerson() *Person { return s.Person(s.opt.Person.ID, "") }

// ID is the person's user id, which is also the id of their private chat.
func (p *Person) ID() int64 { return p.user.ID }

// Start lets the bot write to the person without any update.
func (p *Person) Start() {
	p.srv.mu.Lock()
	defer p.srv.mu.Unlock()
	p.srv.openChatLocked(p.user, p.user.ID)
}

// Block makes every send to the person's private chat fail with 403, or ends that.
func (p *Person) Block(blocked bool) {
	p.srv.mu.Lock()
	defer p.srv.mu.Unlock()
	p.srv.openChatLocked(p.user, p.user.ID).blocked = blocked
}

// Send writes a text as the apps do: trimmed, cut into several messages above 4096 units, commands
// and links detected. It returns the id of the first message; 0 when there was nothing to send.
func (p *Person) Send(chatID int64, text string) int { return p.send(chatID, 0, 0, text) }

// SendIn writes into a topic.
func (p *Person) SendIn(chatID int64, thread int, text string) int {
	return p.send(chatID, thread, 0, text)
}

// Reply writes a text that answers a message of the chat.
func (p *Person) Reply(chatID int64, replyTo int, text string) int {
	return p.send(chatID, 0, replyTo, text)
}

// ReplyIn writes a text into a topic that answers a message there.
func (p *Person) ReplyIn(chatID int64, thread, replyTo int, text string) int {
	return p.send(chatID, thread, replyTo, text)
}

func (p *Person) send(chatID int64, thread, replyTo int, text string) int {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	first := 0
	for _, part := range cutForApp(text) {
		m := s.newPersonMessageLocked(p.user, chatID, thread, replyTo)
		m.Text, m.Entities = part, detect(part)
		s.receiveLocked(m)
		if first == 0 {
			first = m.ID
		}
	}
	return first
}

// SendFile sends a document. The mime type may be empty.
func (p *Person) SendFile(chatID int64, name, mime string, data []byte, caption string) int {
	return p.sendFile(chatID, 0, 0, name, mime, data, caption)
}

func (p *Person) sendFile(chatID int64, thread, replyTo int, name, mime string, data []byte, caption string) int {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.addFileLocked("documents", name, mime, data)
	m := s.newPersonMessageLocked(p.user, chatID, thread, replyTo)
	m.Document, m.Caption, m.CaptionEntities = f.document(), caption, detect(caption)
	s.receiveLocked(m)
	return m.ID
}

// SendPhoto sends a picture: PNG, JPEG or GIF; anything else is an error.
func (p *Person) SendPhoto(chatID int64, data []byte, caption string) (int, error) {
	return p.sendPhoto(chatID, 0, 0, data, caption)
}

func (p *Person) sendPhoto(chatID int64, thread, replyTo int, data []byte, caption string) (int, error) {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	sizes, err := s.addPhotoLocked(data)
	if err != nil {
		return 0, fmt.Errorf("stand-in: send photo: %w", err)
	}
	m := s.newPersonMessageLocked(p.user, chatID, thread, replyTo)
	m.Photo, m.Caption, m.CaptionEntities = sizes, caption, detect(caption)
	s.receiveLocked(m)
	return m.ID, nil
}

// SendVoice sends a voice note.
func (p *Person) SendVoice(chatID int64, seconds int, ogg []byte) int {
	return p.sendVoice(chatID, 0, 0, seconds, ogg)
}

func (p *Person) sendVoice(chatID int64, thread, replyTo, seconds int, ogg []byte) int {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.addFileLocked("voice", "voice.oga", "audio/ogg", ogg)
	m := s.newPersonMessageLocked(p.user, chatID, thread, replyTo)
	m.Voice = &Voice{FileID: f.id, FileUniqueID: f.unique(), Duration: seconds, MimeType: f.mime, FileSize: int64(len(ogg))}
	s.receiveLocked(m)
	return m.ID
}

// Edit changes the text of one of the person's own messages.
func (p *Person) Edit(chatID int64, messageID int, text string) error {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messageLocked(chatID, messageID)
	if m == nil || m.FromBot || m.From == nil || m.From.ID != p.user.ID {
		return fmt.Errorf("edit %d in %d: %w", messageID, chatID, ErrNoMessage)
	}
	text, _ = clean(text, nil)
	text, _ = trim(text, nil)
	m.Text, m.Entities, m.EditDate = text, detect(text), s.opt.Now().Unix()
	m.Edits++
	s.changedLocked(m)
	s.tellLocked("edited_message", m)
	return nil
}

// React sets an emoji under a message; "" removes it. The bot gets an update only if it asked for
// message_reaction.
func (p *Person) React(chatID int64, messageID int, emoji string) error {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messageLocked(chatID, messageID)
	if m == nil {
		return fmt.Errorf("react to %d in %d: %w", messageID, chatID, ErrNoMessage)
	}
	before := reactionJSON(m.Reactions, p.user.ID)
	m.Reactions = replaceReaction(m.Reactions, p.user.ID, emoji)
	s.changedLocked(m)
	s.enqueueLocked("message_reaction", map[string]any{
		"chat": m.Chat, "message_id": m.ID, "user": p.user, "date": s.opt.Now().Unix(),
		"old_reaction": before, "new_reaction": reactionJSON(m.Reactions, p.user.ID),
	})
	return nil
}

// Tap presses the button with that callback data and waits until the bot answered it (ErrNoAnswer
// after Options.TapTimeout). A button that is not there or disabled is ErrNoButton.
func (p *Person) Tap(chatID int64, messageID int, data string) (Answer, error) {
	q, err := p.srv.tap(p.user, chatID, messageID, data)
	if err != nil {
		return Answer{}, err
	}
	timer := time.NewTimer(p.srv.opt.TapTimeout)
	defer timer.Stop()
	select {
	case <-q.done:
		return q.answer, nil
	case <-p.srv.closed:
	case <-timer.C:
	}
	return Answer{}, fmt.Errorf("tap %q on %d: %w", data, messageID, ErrNoAnswer)
}
